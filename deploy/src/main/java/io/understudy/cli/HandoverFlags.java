package io.understudy.cli;

import io.understudy.mirror.takeover.FreezeMode;
import io.understudy.mirror.takeover.HandoverOptions;
import java.time.Duration;
import picocli.CommandLine.Option;

/** What an operator decides about a planned hand-over. */
final class HandoverFlags {

    @Option(
            names = "--freeze",
            defaultValue = "alarm",
            paramLabel = "alarm|auth|none",
            description =
                    "Method of blocking writes: alarm raises a NOSPACE alarm; auth revokes write permissions; none blocks nothing, so stop all writers first (default: ${DEFAULT-VALUE}).")
    private FreezeMode freeze;

    @Option(
            names = "--accept-silent-watchers",
            description =
                    "Allow a new primary with a lower revision than the old one. Resumed watchers may miss changes.")
    private boolean acceptSilentWatchers;

    @Option(
            names = "--max-lag",
            defaultValue = "1000",
            converter = NumberFlag.class,
            paramLabel = "REVISIONS",
            description = "Maximum lag of the new primary at the start (default: ${DEFAULT-VALUE}).")
    private long maxLag;

    @Option(
            names = "--drain-deadline",
            defaultValue = "1m",
            converter = DurationFlag.class,
            paramLabel = "TIME",
            description =
                    "Maximum time until the new primary has all commits of the frozen cluster (default: ${DEFAULT-VALUE}).")
    private Duration drainDeadline;

    HandoverOptions options(Duration patience) {
        return new HandoverOptions(freeze, acceptSilentWatchers, false, maxLag, drainDeadline, patience);
    }
}
