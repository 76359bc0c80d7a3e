package io.understudy.gateway.read;

import java.util.Arrays;
import java.util.function.LongSupplier;

/**
 * Measures staleness by read-index rounds. A state that includes a round's revision was current when that round was
 * <em>sent</em>. Progress notifications and commits do not count: they prove completeness, not currency. Thread-safe.
 *
 * <p>Invariant C3: staleness is measured by read indexes alone and never understated.
 */
final class AsOfClock {

    /** Unknown staleness. */
    static final long UNKNOWN = Long.MAX_VALUE;

    /** No revision is known to be that fresh. */
    static final long NONE = -1;

    private static final int KEPT = 64;

    /** Rounds in ascending order of revision and time. */
    private volatile Round[] rounds = {};

    private final LongSupplier held;

    /**
     * @param sentNanos of the last round with that revision
     * @param firstNanos when the first one was sent
     */
    private record Round(long revision, long sentNanos, long firstNanos) {}

    /** @param held a revision that readers have; the last round at or below it is kept */
    AsOfClock(LongSupplier held) {
        this.held = held;
    }

    /** Discards all rounds; later ones are of another cluster. */
    synchronized void restart() {
        rounds = new Round[0];
    }

    /** Records a completed round. */
    synchronized void confirmed(long revision, long sentNanos) {
        Round[] before = rounds;
        int count = before.length;
        Round round = new Round(revision, sentNanos, sentNanos);
        if (count == 0) {
            rounds = new Round[] {round};
            return;
        }
        Round last = before[count - 1];
        if (revision < last.revision || sentNanos - last.sentNanos < 0) {
            return;
        }
        boolean replaces = revision == last.revision;
        boolean dropsFirst = !replaces && count == KEPT && before[1].revision <= held.getAsLong();
        // A lagging replica needs the oldest rounds, so the newest is replaced.
        boolean full = !replaces && !dropsFirst && count == KEPT;
        int from = dropsFirst ? 1 : 0;
        int to = replaces || full ? count - 1 : count;
        Round[] after = Arrays.copyOfRange(before, from, to + 1);
        after[to - from] = replaces ? new Round(revision, sentNanos, last.firstNanos) : round;
        rounds = after;
    }

    /** Time since a state of this revision was last known to be current, or {@link #UNKNOWN}. */
    long stalenessNanos(long revision, long nowNanos) {
        Round[] known = rounds;
        for (int i = known.length - 1; i >= 0; i--) {
            if (known[i].revision <= revision) {
                return Math.max(0, nowNanos - known[i].sentNanos);
            }
        }
        return UNKNOWN;
    }

    /** Time for which this revision has been behind a confirmed one; zero if it is not. */
    long behindNanos(long revision, long nowNanos) {
        for (Round round : rounds) {
            if (round.revision > revision) {
                return Math.max(0, nowNanos - round.firstNanos);
            }
        }
        return 0;
    }

    /** Returns the lowest revision confirmed within {@code maxNanos}, or {@link #NONE}. */
    long revisionWithin(long maxNanos, long nowNanos) {
        for (Round round : rounds) {
            if (nowNanos - round.sentNanos <= maxNanos) {
                return round.revision;
            }
        }
        return NONE;
    }
}
