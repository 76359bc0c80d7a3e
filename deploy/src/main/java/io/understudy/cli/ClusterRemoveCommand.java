package io.understudy.cli;

import io.understudy.cluster.goal.RemoveMember;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy cluster remove}: a member less. */
@Command(
        name = "remove",
        description = "Remove a member permanently. Moves leadership first if it is the leader.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no change needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterRemoveCommand implements Callable<Integer> {

    @Parameters(paramLabel = "MEMBER", description = "Name or ID of the member.")
    private String member;

    @Mixin
    private ClusterFlags connection;

    @Mixin
    private ChangeFlags change;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        return ClusterChange.run(
                spec.commandLine(), connection, change, seen -> seen.isRemoved(member) ? this::done : remove(seen));
    }

    private Goal remove(ClusterChange seen) {
        return new RemoveMember(seen.member(member).id());
    }

    private Plan done(ClusterFacts facts) {
        return new Plan.Done(member + " is configured but not a member of the cluster");
    }
}
