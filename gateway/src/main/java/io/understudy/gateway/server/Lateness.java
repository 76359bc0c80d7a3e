package io.understudy.gateway.server;

import java.util.concurrent.TimeUnit;

/**
 * How late an event loop is, by the turns that it takes. On the loop; times are those of {@link System#nanoTime}.
 *
 * <p>One turn that takes too long is borne, and so are those of the time after it. Where that doesn't pass, the loop is
 * overloaded, and each turn may take only as long as it should. It stays so until no turn has been too long for as long: of what
 * little is taken on, now and then a turn is short.
 *
 * <p>Invariant S7: at three times the sustainable load, accepted requests are not delayed by rejected ones.
 */
final class Lateness {

    /** How long turns may be too long: a garbage collection makes one so, and those that follow. */
    private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** How much longer those may take who come first on their connection. */
    private static final int FIRST_SHARE = 4;

    private final long mostNanos;
    private boolean inTurn;
    private long began;
    private long ended;
    /** When the first of the turns ended that were all too long; meaningless if the last one wasn't. */
    private long longSince;

    private boolean isLong;
    /** When the last one ended that was too long; meaningless unless overloaded. */
    private long lastLong;

    private boolean isOverloaded;

    Lateness(long mostNanos) {
        this.mostNanos = mostNanos;
    }

    boolean inTurn() {
        return inTurn;
    }

    void turnBegins(long nowNanos) {
        inTurn = true;
        began = nowNanos;
        isLong &= nowNanos - ended < PATIENCE_NANOS;
        isOverloaded &= nowNanos - lastLong < PATIENCE_NANOS;
    }

    /** Returns how long it took, in nanoseconds. */
    long turnEnds(long nowNanos) {
        inTurn = false;
        ended = nowNanos;
        long took = nowNanos - began;
        if (took > mostNanos) {
            if (isLong) {
                isOverloaded |= nowNanos - longSince > PATIENCE_NANOS;
            } else {
                isLong = true;
                longSince = nowNanos;
            }
            lastLong = nowNanos;
        } else {
            isLong = false;
        }
        return took;
    }

    /** Whether what begins now is better refused, for the sake of what comes after it. */
    boolean isLate(long nowNanos, boolean firstOfConnection) {
        if (!inTurn) {
            return false;
        }
        long delay = nowNanos - began;
        return delay > mostNanos
                && (isOverloaded || nowNanos - (isLong ? longSince : began) > PATIENCE_NANOS)
                && !(firstOfConnection && delay < FIRST_SHARE * mostNanos);
    }
}
