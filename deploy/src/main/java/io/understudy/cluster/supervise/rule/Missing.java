package io.understudy.cluster.supervise.rule;

import java.time.Duration;
import java.time.Instant;

/**
 * That looks whose evidence was sound did not find a member, without a break.
 *
 * @param since the first of them
 * @param last the last of them
 * @param looks how many
 */
record Missing(Instant since, Instant last, int looks) {

    /** A pause of ours shows in fewer. */
    private static final int LEAST_LOOKS = 3;

    static Missing first(Instant at) {
        return new Missing(at, at, 1);
    }

    /** One look more; what lies too far back is no part of it. */
    Missing again(Instant at, Duration gap) {
        return Duration.between(last, at).compareTo(gap) > 0 ? first(at) : new Missing(since, at, looks + 1);
    }

    /** Whether the look at that time was one of them, and they suffice. */
    boolean lasted(Duration least, Instant now) {
        return last.equals(now) && looks >= LEAST_LOOKS && !since.plus(least).isAfter(now);
    }
}
