package io.understudy.local.fault;

import java.util.concurrent.TimeUnit;

/** Grants so many bytes per second, with bursts of a twentieth of a second. Used by one thread. */
final class TokenBucket {

    private static final long NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int BURSTS_PER_SECOND = 20;

    private final long bytesPerSecond;
    private final long burst;
    private double tokens;
    private long filledNanos;
    private boolean used;

    TokenBucket(long bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
        this.burst = Math.max(1, bytesPerSecond / BURSTS_PER_SECOND);
    }

    /** How many bytes may pass now. */
    int available(long nowNanos) {
        if (!used) {
            used = true;
            tokens = (double) burst;
        } else {
            tokens = Math.min(
                    (double) burst, tokens + (double) (nowNanos - filledNanos) * (double) bytesPerSecond / NANOS);
        }
        filledNanos = nowNanos;
        return (int) Math.min(Integer.MAX_VALUE, (long) tokens);
    }

    void take(int bytes) {
        tokens -= bytes;
    }

    /** Returns when the bucket will be full again. Passing less at a time would only use more CPU. */
    long fullNanos(long nowNanos) {
        return nowNanos + (long) Math.ceil(((double) burst - tokens) * NANOS / bytesPerSecond);
    }
}
