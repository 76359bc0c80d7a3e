package io.understudy.mirror.takeover;

import io.understudy.mirror.home.Move.Way;
import java.time.Duration;

/**
 * What an operator decides.
 *
 * @param way how the former primary is closed
 * @param acceptSilentWatchers continue although the new primary's revision is below the former one's
 * @param force failover: although the source responds, or the target is not whole; undo: although the target is gone;
 *     rejoin: although neither primary replaced the other
 * @param maxLag how many revisions the new primary may be behind at the start
 * @param drainDeadline how long it may take to reach the end marker
 * @param patience how long a cluster may take to respond
 */
public record TakeOverOptions(
        Way way, boolean acceptSilentWatchers, boolean force, long maxLag, Duration drainDeadline, Duration patience) {

    /** The command line's. */
    public static final TakeOverOptions DEFAULTS =
            new TakeOverOptions(Way.ROLES, false, false, 1_000, Duration.ofMinutes(1), Duration.ofSeconds(30));

    public TakeOverOptions with(Way other) {
        return new TakeOverOptions(other, acceptSilentWatchers, force, maxLag, drainDeadline, patience);
    }

    public TakeOverOptions acceptingSilentWatchers() {
        return new TakeOverOptions(way, true, force, maxLag, drainDeadline, patience);
    }

    public TakeOverOptions forced() {
        return new TakeOverOptions(way, acceptSilentWatchers, true, maxLag, drainDeadline, patience);
    }

    public TakeOverOptions within(Duration newDrainDeadline, Duration newPatience) {
        return new TakeOverOptions(way, acceptSilentWatchers, force, maxLag, newDrainDeadline, newPatience);
    }

    /** What the way of closing does, in words. */
    String closing(String where, String keys) {
        return switch (way) {
            case ROLES -> "revokes write access to " + keys + " at " + where + " from all roles but the mirror's";
            case CORRUPT_ALARM ->
                "raises a CORRUPT alarm at " + where + ": no write of any tenant is accepted, and health checks fail,"
                        + " until the role has moved; then enables authentication there, for the mirror alone";
            case AUTH_ENABLE ->
                "enables authentication at " + where + ", for the mirror alone: no tenant can read or write there";
            case NONE -> "nothing: clients can write at " + where + ", and what they write last is lost";
        };
    }
}
