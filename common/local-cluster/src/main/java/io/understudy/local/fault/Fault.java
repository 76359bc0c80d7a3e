package io.understudy.local.fault;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What is wrong with a link.
 *
 * @param mode what becomes of its connections
 * @param delay how much later bytes arrive, each way
 * @param toTarget limit of the way to the target, null for none
 * @param fromTarget limit of the way back, null for none
 */
record Fault(
        Mode mode,
        Duration delay,
        @Nullable TokenBucket toTarget,
        @Nullable TokenBucket fromTarget) {

    static final Fault NONE = new Fault(Mode.FLOWS, Duration.ZERO, null, null);

    /** From harmless to worst; of two that hold at once the worse one counts. */
    enum Mode {
        FLOWS,
        HALF_OPEN,
        BLACK_HOLE,
        CUT
    }

    Fault with(Mode other) {
        return new Fault(other, delay, toTarget, fromTarget);
    }

    Fault with(Duration other) {
        return new Fault(mode, other, toTarget, fromTarget);
    }

    Fault with(long bytesPerSecond) {
        return new Fault(mode, delay, new TokenBucket(bytesPerSecond), new TokenBucket(bytesPerSecond));
    }
}
