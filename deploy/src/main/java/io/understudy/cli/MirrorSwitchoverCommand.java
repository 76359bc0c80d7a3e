package io.understudy.cli;

import io.understudy.mirror.takeover.Handover;
import io.understudy.mirror.takeover.MirrorParties;
import io.understudy.mirror.takeover.StepPlan;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code understudy mirror switchover}: moves the home to the target, as planned. */
@Command(
        name = "switchover",
        description = {
            "Make the target the primary, without data loss if writers are stopped.",
            "Freezes the source, waits until the target has all commits, compares both, fences the mirror and moves the "
                    + "primary role. Run it again to resume after a crash."
        })
final class MirrorSwitchoverCommand implements Callable<Integer> {

    @Mixin
    private TakeOverFlags flags;

    @Mixin
    private HandoverFlags decisions;

    @Mixin
    private UndoFlag undo;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        TakeOverText text = flags.text(spec.commandLine());
        try (MirrorParties parties = flags.parties(spec.commandLine())) {
            Handover handover = Handover.switchover(parties.forward(), decisions.options(flags.patience()), text);
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
                    text.confirm("Moving the primary role", handover::check);
                }
                text.report(handover.run());
            }
            return ExitCode.OK;
        }
    }
}
