package io.understudy.gateway.server;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Token bucket of one client, which holds a second's tokens. Thread-safe. */
final class RateBucket {

    private static final long BURST_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final long intervalNanos;
    /** Time at which the bucket is full again. */
    private final AtomicLong full;

    RateBucket(int perSecond, long nowNanos) {
        this.intervalNanos = BURST_NANOS / perSecond;
        this.full = new AtomicLong(nowNanos);
    }

    /** Takes a token, if there is one. */
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
