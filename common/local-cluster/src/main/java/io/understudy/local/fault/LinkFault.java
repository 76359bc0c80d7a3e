package io.understudy.local.fault;

import io.understudy.local.fault.ProxyConnection.TokenBucket;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The faults of a link.
 *
 * @param mode what becomes of its connections
 * @param delay how much later bytes arrive, each way
 * @param toTarget limit of the way to the target, null for none
 * @param fromTarget limit of the way back, null for none
 */
record LinkFault(
        Mode mode,
        Duration delay,
        @Nullable TokenBucket toTarget,
        @Nullable TokenBucket fromTarget) {

    static final LinkFault NONE = new LinkFault(Mode.FLOWS, Duration.ZERO, null, null);

    /** Modes from harmless to worst; of two the worse one applies. */
    enum Mode {
        FLOWS,
        HALF_OPEN,
        BLACK_HOLE,
        CUT
    }

    LinkFault with(Mode other) {
        return new LinkFault(other, delay, toTarget, fromTarget);
    }

    LinkFault with(Duration other) {
        return new LinkFault(mode, other, toTarget, fromTarget);
    }

    LinkFault with(long bytesPerSecond) {
        return new LinkFault(mode, delay, new TokenBucket(bytesPerSecond), new TokenBucket(bytesPerSecond));
    }
}
