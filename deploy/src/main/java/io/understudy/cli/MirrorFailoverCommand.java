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

/** {@code understudy mirror failover}: moves the primary role to the target without the source. */
@Command(
        name = "failover",
        description = {
            "Make the target the primary after the loss of the source.",
            "Reports the revision and time up to which the target has the data. Later writes are lost. Run it again to"
                    + " complete it after a crash.",
            "When the source returns, the mirror closes it as --close selects, and names the keys written there."
        })
final class MirrorFailoverCommand implements Callable<Integer> {

    @Mixin
    private TakeOverFlags flags;

    @Mixin
    private CloseFlags close;

    @Option(
            names = "--force",
            description = "Fail over even if the source responds or the checkpoint is syncing or torn.")
    private boolean force;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        TakeOverText text = flags.text(spec.commandLine());
        TakeOverOptions defaults = TakeOverOptions.DEFAULTS
                .with(close.way(spec.commandLine()))
                .within(TakeOverOptions.DEFAULTS.drainDeadline(), flags.patience(spec.commandLine()));
        try (TakeOver clusters = flags.clusters(spec.commandLine())) {
            Failover failover = clusters.failover(force ? defaults.forced() : defaults, text);
            text.plan(failover.plan(), flags.isDryRun());
            if (flags.isDryRun()) {
                failover.check();
                return ExitCode.OK;
            }
            text.confirm("Moving the primary role, without the last writes of the source,", failover::check);
            return text.report(failover.run(), false);
        }
    }
}
