package io.understudy.mirror.takeover;

import java.time.Duration;

/**
 * What an operator decides about a hand-over.
 *
 * @param acceptSilentWatchers go on though the target's revision is below the source's
 * @param force go on though the target is no state that the source had, or the source still answers
 * @param maxLag how many revisions the target may be behind at the beginning
 * @param drainDeadline how long the target may take to reach the frozen source
 * @param patience how long a cluster may take to answer
 */
public record HandoverOptions(
        FreezeMode freeze,
        boolean acceptSilentWatchers,
        boolean force,
        long maxLag,
        Duration drainDeadline,
        Duration patience) {

    /** The command line's. */
    public static final HandoverOptions DEFAULTS =
            new HandoverOptions(FreezeMode.ALARM, false, false, 1_000, Duration.ofMinutes(1), Duration.ofSeconds(30));

    public HandoverOptions with(FreezeMode mode) {
        return new HandoverOptions(mode, acceptSilentWatchers, force, maxLag, drainDeadline, patience);
    }

    public HandoverOptions acceptingSilentWatchers() {
        return new HandoverOptions(freeze, true, force, maxLag, drainDeadline, patience);
    }

    public HandoverOptions forced() {
        return new HandoverOptions(freeze, acceptSilentWatchers, true, maxLag, drainDeadline, patience);
    }

    public HandoverOptions within(Duration newDrainDeadline, Duration newPatience) {
        return new HandoverOptions(freeze, acceptSilentWatchers, force, maxLag, newDrainDeadline, newPatience);
    }
}
