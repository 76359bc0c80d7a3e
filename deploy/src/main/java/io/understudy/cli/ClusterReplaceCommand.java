package io.understudy.cli;

import io.understudy.cluster.goal.AddMember;
import io.understudy.cluster.goal.MigrateMember;
import io.understudy.cluster.goal.ReplaceMember;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Refusal;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy cluster replace}: one member in place of another. */
@Command(
        name = "replace",
        description = "Replace a member. A failed member is removed first, a healthy one last.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no change needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterReplaceCommand implements Callable<Integer> {

    @Parameters(paramLabel = "MEMBER", description = "Name or ID of the member to replace.")
    private String member;

    @Option(
            names = "--with",
            required = true,
            paramLabel = "NAME",
            description = "Name of the replacement: a new member or a standby learner.")
    private String successor;

    @Option(
            names = "--peer-urls",
            split = ",",
            paramLabel = "URL",
            description = "Peer URLs of the replacement (default: from the configuration).")
    private List<URI> peerUrls = List.of();

    @Option(
            names = "--client-urls",
            split = ",",
            paramLabel = "URL",
            description = "Client URLs of the replacement (default: from the configuration).")
    private List<URI> clientUrls = List.of();

    @Option(
            names = "--migrate-data",
            description =
                    "Move the data directory to the replacement instead of sending a snapshot. The member ID is kept.")
    private boolean migrateData;

    @Mixin
    private ClusterFlags connection;

    @Mixin
    private ChangeFlags change;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        return ClusterChange.run(spec.commandLine(), connection, change, this::goal);
    }

    private Goal goal(ClusterChange seen) {
        Optional<MemberFacts> old = seen.find(member).flatMap(seen.facts()::member);
        if (old.isEmpty() && !seen.isRemoved(member)) {
            throw seen.unknown(member);
        }
        MemberSpec to = seen.place(successor, peerUrls, clientUrls);
        if (migrateData) {
            // After the move the member has the name of its successor.
            MemberFacts found = old.orElseGet(() -> seen.member(successor));
            return new MigrateMember(found.id(), seen.place(member, List.of(), List.of()), to);
        }
        if (member.equals(successor)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "both members have the name " + member + "; specify the ID of the member to replace, so that the"
                            + " command can be repeated");
        }
        Optional<MemberFacts> present = seen.facts().at(to);
        if (old.isEmpty()) {
            return resumed(seen, to, present);
        }
        boolean isToVote = old.get().isVoter();
        boolean isTaken = present.filter(each -> !each.id().equals(old.get().id()))
                .filter(each -> each.isVoter() || !isToVote)
                .isPresent();
        if (isTaken && !(isToVote && seen.hasExtraVoter())) {
            return refusal(
                    "replacement-is-new",
                    successor + " is a member already, so " + member + " would be removed and not replaced",
                    "Name a new member or a standby learner with --with, or remove " + member
                            + " (understudy cluster remove " + member + ")");
        }
        return new ReplaceMember(
                old.get().id(), to, isToVote, seen.isLost(old.get().id()));
    }

    /** The member to replace is configured and no longer listed: an interrupted run removed it, if a voter is missing. */
    private Goal resumed(ClusterChange seen, MemberSpec to, Optional<MemberFacts> present) {
        if (present.filter(MemberFacts::isVoter).isPresent()) {
            return facts -> new Plan.Done(member + " is not a member, and " + successor + " is a voting member");
        }
        return seen.lacksVoter()
                ? new AddMember(to, true)
                : refusal(
                        "replaced-is-member",
                        member + " is configured but not a member, and no voting member is missing",
                        "Check the names (understudy cluster status); add " + successor
                                + " with understudy cluster add");
    }

    private static Goal refusal(String rule, String why, String wayOut) {
        return facts -> new Plan.Refused(List.of(new Refusal(rule, why, wayOut)));
    }
}
