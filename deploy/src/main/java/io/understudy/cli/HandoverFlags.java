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
            description = "How writers are kept off meanwhile: alarm raises a NOSPACE alarm; auth withdraws write"
                    + " permissions; none trusts that you have stopped them. ${DEFAULT-VALUE} by default.")
    private FreezeMode freeze;

    @Option(
            names = "--accept-silent-watchers",
            description = "Go on though the new home's revision is below the old one's.")
    private boolean acceptSilentWatchers;

    @Option(
            names = "--max-lag",
            defaultValue = "1000",
            converter = NumberFlag.class,
            paramLabel = "REVISIONS",
            description = "How far behind the new home may be at the beginning; ${DEFAULT-VALUE} by default.")
    private long maxLag;

    @Option(
            names = "--drain-deadline",
            defaultValue = "1m",
            converter = DurationFlag.class,
            paramLabel = "TIME",
            description = "How long it may take to get level with the frozen cluster; ${DEFAULT-VALUE} by default.")
    private Duration drainDeadline;

    HandoverOptions options(Duration patience) {
        return new HandoverOptions(freeze, acceptSilentWatchers, false, maxLag, drainDeadline, patience);
    }
}
