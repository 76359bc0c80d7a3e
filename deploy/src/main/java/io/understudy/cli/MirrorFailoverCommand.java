package io.understudy.cli;

import io.understudy.mirror.takeover.Handover;
import io.understudy.mirror.takeover.HandoverOptions;
import io.understudy.mirror.takeover.MirrorParties;
import io.understudy.mirror.takeover.StepPlan;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy mirror failover}: moves the home to the target without the source. */
@Command(
        name = "failover",
        description = {
            "Make the target the primary after the loss of the source.",
            "Reports the revision and time up to which the target has the data. Later writes may be lost. Run it again to"
                    + " resume after a crash."
        })
final class MirrorFailoverCommand implements Callable<Integer> {

    @Mixin
    private TakeOverFlags flags;

    @Option(
            names = "--force",
            description = "Fail over even if the source responds or the checkpoint is syncing or torn.")
    private boolean force;

    @Mixin
    private UndoFlag undo;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        TakeOverText text = flags.text(spec.commandLine());
        try (MirrorParties parties = flags.parties(spec.commandLine())) {
            HandoverOptions options =
                    HandoverOptions.DEFAULTS.within(HandoverOptions.DEFAULTS.drainDeadline(), flags.patience());
            Handover handover = Handover.failover(parties.forward(), force ? options.forced() : options, text);
            if (undo.isGiven() && flags.isDryRun()) {
                text.undoing(handover.undoPlan());
                return ExitCode.OK;
            }
            if (undo.isGiven()) {
                text.undone(handover.undo(), TakeOverText.UNMOVED);
                return ExitCode.OK;
            }
            List<StepPlan> plan = handover.plan();
            text.plan(plan, flags.isDryRun());
            if (flags.copiesUsers(spec.commandLine())) {
                text.users(false);
            }
            if (flags.isDryRun()) {
                handover.check();
            } else {
                if (!plan.isEmpty()) {
                    text.confirm(
                            "Moving the primary role, possibly without the last writes of the source,",
                            handover::check);
                }
                text.report(handover.run());
            }
            return ExitCode.OK;
        }
    }
}
