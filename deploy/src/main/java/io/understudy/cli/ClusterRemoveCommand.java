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
        description = "Remove a member for good; if it leads, another does first.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or nothing to do", "1:refused, or failed", "2:bad usage, or not confirmed"})
final class ClusterRemoveCommand implements Callable<Integer> {

    @Parameters(paramLabel = "MEMBER", description = "Its name or id.")
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
        return new Plan.Done(member + ", which is configured, is no member any more");
    }
}
