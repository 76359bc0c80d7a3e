package io.understudy.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code understudy mirror failback}: a switchover back to the source. */
@Command(
        name = "failback",
        description = {
            "Return the primary role to the source: a switchover in the other direction.",
            "Requires that the mirror runs in that direction and is synced. After a failover, run \"understudy mirror rejoin\""
                    + " first."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {
            "0:done, nothing lost",
            "1:failed, the role has not moved",
            "2:usage error",
            "3:done, writes lost or unknown"
        })
final class MirrorFailbackCommand implements Callable<Integer> {

    @Mixin
    private TakeOverFlags flags;

    @Mixin
    private SwitchoverFlags moves;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() {
        return moves.run(
                flags, spec.commandLine(), (clusters, move) -> clusters.failback(move.options(), move.steps()));
    }
}
