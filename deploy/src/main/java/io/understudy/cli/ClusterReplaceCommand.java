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
        description = "Put one member in place of another: a dead one goes first, a healthy one last.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or nothing to do", "1:refused, or failed", "2:bad usage, or not confirmed"})
final class ClusterReplaceCommand implements Callable<Integer> {

    @Parameters(paramLabel = "MEMBER", description = "Name or id of the one that goes.")
    private String member;

    @Option(
            names = "--with",
            required = true,
            paramLabel = "NAME",
            description = "Name of its successor: a new member, or a learner that stands by.")
    private String successor;

    @Option(
            names = "--peer-urls",
            split = ",",
            paramLabel = "URL",
            description = "Where the other members reach the successor; as configured by default.")
    private List<URI> peerUrls = List.of();

    @Option(
            names = "--client-urls",
            split = ",",
            paramLabel = "URL",
            description = "Where clients reach the successor; as configured by default.")
    private List<URI> clientUrls = List.of();

    @Option(
            names = "--migrate-data",
            description = "Move the member's data to its successor, which keeps its id, instead of streaming it anew.")
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
                    "both are called " + member + ": give the id of the member to be replaced, so that the command can"
                            + " tell them apart when it is given again");
        }
        Optional<MemberId> old = seen.find(member);
        return old.isPresent() ? new ReplaceMember(old.get(), to, seen.isLost(old.get())) : new AddMember(to, true);
    }
}
