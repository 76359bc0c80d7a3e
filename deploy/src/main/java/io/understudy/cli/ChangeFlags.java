package io.understudy.cli;

import io.understudy.cluster.run.Patience;
import io.understudy.cluster.status.SupervisorView;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** What all commands have in common that change a cluster. */
final class ChangeFlags {

    @Option(names = "--dry-run", description = "Print the plan and exit.")
    private boolean dryRun;

    @Option(names = "--yes", description = "Skip the confirmation of irreversible steps.")
    private boolean yes;

    @Option(
            names = "--timeout",
            defaultValue = "5s",
            converter = DurationFlag.class,
            paramLabel = "TIME",
            description = "Timeout for members to respond (default: ${DEFAULT-VALUE})."
                    + " Extended while this machine is overloaded.")
    private Duration timeout;

    @Option(
            names = "--start-patience",
            defaultValue = "2m",
            converter = DurationFlag.class,
            paramLabel = "TIME",
            description = "Maximum time until a started member serves (default: ${DEFAULT-VALUE})."
                    + " A new member that exceeds it is removed.")
    private Duration start;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Output format.")
    private OutputForm output;

    @Option(
            names = "--take-over",
            description = "Proceed although supervisors and other commands cannot be paused, as under an alarm."
                    + " Confirms that none of them changes the cluster. Names supervisors that do not respond.")
    private boolean isTakenOver;

    @Mixin
    private SupervisorsFlag supervisors;

    boolean isTakenOver() {
        return isTakenOver;
    }

    List<SupervisorView> supervisors(ClusterConnection cluster) throws InterruptedException {
        return supervisors.views(cluster);
    }

    boolean isDryRun() {
        return dryRun;
    }

    Patience patience() {
        return Patience.DEFAULT.withStart(start).withLook(timeout);
    }

    ChangeText text(CommandLine command) {
        return new ChangeText(command, output, yes);
    }
}
