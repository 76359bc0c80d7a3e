package io.understudy.cluster.supervise.rule;

import java.time.Duration;
import java.time.Instant;

/**
 * Consecutive observations in which a member served no linearizable read, and the leader could confirm it.
 *
 * @param since the first of them
 * @param last the last of them
 * @param looks how many
 */
record Fault(Instant since, Instant last, int looks) {

    /** A pause of the supervisor shows in fewer. */
    private static final int LEAST_LOOKS = 3;

    static Fault first(Instant at) {
        return new Fault(at, at, 1);
    }

    /** With one more observation; a longer gap starts a new fault. */
    Fault again(Instant at, Duration gap) {
        return Duration.between(last, at).compareTo(gap) > 0 ? first(at) : new Fault(since, at, looks + 1);
    }

    /** Whether the observation at that time is one of them, and they suffice. */
    boolean lasted(Duration least, Instant now) {
        return last.equals(now) && looks >= LEAST_LOOKS && !since.plus(least).isAfter(now);
    }
}
