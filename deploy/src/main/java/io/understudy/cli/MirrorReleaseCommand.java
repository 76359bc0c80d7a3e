package io.understudy.cli;

import io.understudy.mirror.takeover.TakeOver;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy mirror release}: opens a closed cluster by hand. */
@Command(
        name = "release",
        description = {
            "Open a cluster that gave up the primary role, although it is not the primary.",
            "The mirror overwrites what clients write there."
        })
final class MirrorReleaseCommand implements Callable<Integer> {

    @Mixin
    private TakeOverFlags flags;

    @Option(
            names = "--side",
            required = true,
            paramLabel = "source|target",
            description = "Cluster to open, as configured in the mirror.")
    private Side side;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        TakeOverText text = flags.text(spec.commandLine());
        try (TakeOver clusters = flags.clusters(spec.commandLine())) {
            if (!flags.isDryRun()) {
                text.confirm("Opening a cluster that is not the primary", () -> {});
                text.result(clusters.release(side == Side.target));
            }
            return ExitCode.OK;
        }
    }

    /** A cluster of the mirror. */
    enum Side {
        source,
        target
    }
}
