package io.understudy.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code understudy mirror switchover}: moves the primary role to the target, as planned. */
@Command(
        name = "switchover",
        description = {
            "Make the target the primary without data loss.",
            "Compares both clusters while clients write, closes the source, waits for its last commits, and moves the primary"
                    + " role. A failure before that opens the source again. Run it again to resume after a crash."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:done, nothing lost",
            "1:failed, the role has not moved",
            "2:usage error",
            "3:done, writes lost or unknown"
        })
final class MirrorSwitchoverCommand implements Callable<Integer> {

    @Mixin
    private TakeOverFlags flags;

    @Mixin
    private SwitchoverFlags moves;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        return moves.run(
                flags, spec.commandLine(), (clusters, move) -> clusters.switchover(move.options(), move.steps()));
    }
}
