package io.understudy.cli;

import io.understudy.cluster.goal.AddMember;
import io.understudy.cluster.goal.DemoteMember;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy cluster demote}: a voting member becomes a learner. */
@Command(
        name = "demote",
        description =
                "Make a voting member a learner: remove it, keep its data aside, and join it again. Its ID changes.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no change needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterDemoteCommand implements Callable<Integer> {

    @Parameters(paramLabel = "MEMBER", description = "Name or ID of the voting member.")
    private String member;

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
        // An interrupted run removed it.
        if (seen.isRemoved(member) && !seen.hasExtraVoter()) {
            return new AddMember(seen.place(member, List.of(), List.of()), false);
        }
        MemberFacts found = seen.member(member);
        MemberSpec place = seen.place(found.label(), List.of(), List.of());
        return found.isVoter() ? new DemoteMember(found.id(), place) : new AddMember(place, false);
    }
}
