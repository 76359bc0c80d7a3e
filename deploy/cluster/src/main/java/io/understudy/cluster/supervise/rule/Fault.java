package io.understudy.cluster.supervise.rule;

import java.time.Duration;
import java.time.Instant;

/**
 * Consecutive observations of a member without linearizable reads, while the leader could confirm it.
 *
 * @param since the first of them
 * @param last the last of them
 * @param looks number of observations
 */
record Fault(Instant since, Instant last, int looks) {

    /** Minimum observations: a pause of the supervisor has fewer. */
    private static final int LEAST_LOOKS = 3;

    static Fault first(Instant at) {
        return new Fault(at, at, 1);
    }

    /** Returns the fault with one more observation; a longer gap starts a new fault. */
    Fault again(Instant at, Duration gap) {
        return Duration.between(last, at).compareTo(gap) > 0 ? first(at) : new Fault(since, at, looks + 1);
    }

    /** Whether the fault has lasted until that observation, and long enough. */
    boolean lasted(Duration least, Instant now) {
        return last.equals(now) && looks >= LEAST_LOOKS && !since.plus(least).isAfter(now);
    }
}
