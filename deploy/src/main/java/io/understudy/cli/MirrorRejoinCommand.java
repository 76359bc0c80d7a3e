package io.understudy.cli;

import io.understudy.mirror.takeover.Failover;
import io.understudy.mirror.takeover.TakeOver;
import io.understudy.mirror.takeover.TakeOverOptions;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy mirror rejoin}: makes a former primary a copy after a failover. */
@Command(
        name = "rejoin",
        description = {
            "Make the former primary a copy after a failover, or if both clusters are the primary.",
            "Closes it, names the keys with writes that the new primary lacks, and has the mirror overwrite them."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:done, nothing lost",
            "1:failed, the role has not moved",
            "2:usage error",
            "3:done, writes lost or unknown"
        })
final class MirrorRejoinCommand implements Callable<Integer> {

    @Mixin
    private TakeOverFlags flags;

    @Mixin
    private CloseFlags close;

    @Option(
            names = "--primary",
            paramLabel = "source|target",
            description =
                    "Cluster that remains the primary. Required if neither replaced the other, such as with equal epochs.")
    private MirrorReleaseCommand.Side primary;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        TakeOverText text = flags.text(spec.commandLine());
        TakeOverOptions options = TakeOverOptions.DEFAULTS
                .with(close.way(spec.commandLine()))
                .within(TakeOverOptions.DEFAULTS.drainDeadline(), flags.patience(spec.commandLine()));
        try (TakeOver clusters = flags.clusters(spec.commandLine())) {
            Failover rejoin = primary == null
                    ? clusters.rejoin(options, text)
                    : clusters.rejoin(primary == MirrorReleaseCommand.Side.target, options.forced(), text);
            text.plan(rejoin.rejoinPlan(), flags.isDryRun());
            if (flags.isDryRun()) {
                return ExitCode.OK;
            }
            text.confirm("Overwriting the former primary", () -> {});
            return text.report(rejoin.rejoin(), true);
        }
    }
}
