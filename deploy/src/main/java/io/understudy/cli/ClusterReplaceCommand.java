package io.understudy.cli;

import io.understudy.cluster.goal.AddMember;
import io.understudy.cluster.goal.MigrateMember;
import io.understudy.cluster.goal.ReplaceMember;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.vocabulary.MemberId;
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
        MemberSpec to = seen.place(successor, peerUrls, clientUrls);
        if (migrateData) {
            // Once it has moved it is called as its successor is.
            MemberFacts found = seen.member(seen.find(member).isPresent() ? member : successor);
            return new MigrateMember(found.id(), seen.place(member, List.of(), List.of()), to);
        }
        if (member.equals(successor)) {
            throw new ParameterException(
                    spec.commandLine(),
                    "both members have the name " + member + "; specify the ID of the member to replace, so that the"
                            + " command can be repeated");
        }
        Optional<MemberId> old = seen.find(member);
        return old.isPresent() ? new ReplaceMember(old.get(), to, seen.isLost(old.get())) : new AddMember(to, true);
    }
}
