package io.understudy.cli;

import io.understudy.cluster.goal.PromoteMember;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code understudy cluster promote}: a learner votes. */
@Command(
        name = "promote",
        description = "Make a learner a voter, once it has caught up.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or nothing to do", "1:refused, or failed", "2:bad usage, or not confirmed"})
final class ClusterPromoteCommand implements Callable<Integer> {

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
                spec.commandLine(),
                connection,
                change,
                seen -> new PromoteMember(seen.member(member).id()));
    }
}
