package io.understudy.cli;

import io.understudy.cluster.run.Patience;
import java.time.Duration;
import picocli.CommandLine;
import picocli.CommandLine.Option;

/** What all commands have in common that change a cluster. */
final class ChangeFlags {

    @Option(names = "--dry-run", description = "Print the plan and end.")
    private boolean dryRun;

    @Option(names = "--yes", description = "Do what can't be undone without asking.")
    private boolean yes;

    @Option(
            names = "--start-patience",
            defaultValue = "2m",
            converter = DurationFlag.class,
            paramLabel = "TIME",
            description = "How long a member may take from its start until it serves, and whoever starts it;"
                    + " ${DEFAULT-VALUE} by default. A new member that takes longer is removed again.")
    private Duration start;

    @Option(names = "--output", defaultValue = "table", paramLabel = "table|json", description = "Form of the results.")
    private OutputForm output;

    boolean isDryRun() {
        return dryRun;
    }

    Patience patience() {
        return Patience.DEFAULT.withStart(start);
    }

    ChangeText text(CommandLine command) {
        return new ChangeText(command, output, yes);
    }
}
