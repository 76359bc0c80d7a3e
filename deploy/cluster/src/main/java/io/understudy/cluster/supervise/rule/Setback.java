package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.shape.Limits;
import java.time.Instant;

/**
 * A machine on which members died, or never started.
 *
 * @param times in a row
 * @param last when the last one did
 */
record Setback(int times, Instant last) {

    private static final int MOST_DOUBLINGS = 6;

    Setback again(Instant at) {
        return new Setback(times + 1, at);
    }

    /** Returns when the machine may be used again. */
    Instant until(Limits limits) {
        return last.plus(limits.holdOff().multipliedBy(1L << Math.min(times - 1, MOST_DOUBLINGS)));
    }
}
