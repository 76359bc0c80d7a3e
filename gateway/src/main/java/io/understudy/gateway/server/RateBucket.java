package io.understudy.gateway.server;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** How many requests one client may still send; a second's worth at most is saved up. For any thread. */
final class RateBucket {

    private static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long intervalNanos;
    /** When what was taken will have come back. */
    private final AtomicLong full;

    RateBucket(int perSecond, long nowNanos) {
        this.intervalNanos = BURST_NANOS / perSecond;
        this.full = new AtomicLong(nowNanos);
    }

    /** Takes one, if there is any. */
    boolean take(long nowNanos) {
        while (true) {
            long before = full.get();
            long from = before - nowNanos > 0 ? before : nowNanos;
            if (from + intervalNanos - nowNanos > BURST_NANOS) {
                return false;
            }
            if (full.compareAndSet(before, from + intervalNanos)) {
                return true;
            }
        }
    }
}
