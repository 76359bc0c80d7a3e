package io.understudy.cli;

import io.understudy.cluster.goal.Roll;
import io.understudy.etcd.EtcdVersion;
import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy cluster roll}: every member's process anew. */
@Command(
        name = "roll",
        description = "Restart or upgrade all members one by one, learners first, the leader last.",
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no change needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterRollCommand implements Callable<Integer> {

    @Option(
            names = "--to-version",
            paramLabel = "VERSION",
            description =
                    "Target version, installed on all machines. Only members that run another version are restarted.")
    private String version;

    @Option(
            names = "--started-before",
            paramLabel = "TIME",
            description = "Restart only members started before this time, such as 2026-01-31T12:00:00Z (default: now)."
                    + " To resume an interrupted roll, specify its start time.")
    private Instant startedBefore;

    @Mixin
    private ClusterFlags connection;

    @Mixin
    private ChangeFlags change;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        return ClusterChange.run(spec.commandLine(), connection, change, seen -> {
            Instant since = startedBefore == null ? Instant.now() : startedBefore;
            if (version == null) {
                spec.commandLine().getErr().println("to resume after an interruption: --started-before " + since);
            }
            return new Roll(since, version == null ? null : EtcdVersion.parse(version));
        });
    }
}
