package io.understudy.gateway.server;

/**
 * Bounds the requests of one event-loop turn by their measured service time. On the loop.
 *
 * <p>A turn takes what has arrived on all connections, so its requests are the queue. The bound is what fits into a target
 * at the processor time that a request takes: wall time would count a processor that others use as load. Turns may exceed
 * the bound as a leaky bucket: a burst passes, and a queue that persists does not.
 *
 * <p>Invariant S7: at three times the sustainable load, accepted requests are not delayed by rejected ones.
 */
final class QueueBound {

    /** Never rejected: so few are no overload, however slow code is that was not compiled yet. */
    static final int LEAST = 128;

    /** Requests above the bound that pass before a queue counts as standing. */
    static final int BURST = 2_000;

    /** How much more the first request of each connection may find, so that busy connections do not starve others. */
    private static final int FIRST_SHARE = 4;

    private static final int MOST = Integer.MAX_VALUE / FIRST_SHARE;

    /** Of a turn before its measurement begins, which saves two system calls in short turns. */
    private static final int UNMEASURED = 16;

    private final long targetNanos;
    private int served;
    private int excess;
    private int measuredFrom;
    private long measuredSince;
    private double serviceNanos;

    QueueBound(long targetNanos) {
        this.targetNanos = targetNanos;
    }

    /** Whether a request has to be rejected for the sake of later ones. */
    boolean rejects(boolean firstOfConnection) {
        int bound = bound();
        return served >= bound
                && excess + served - bound >= BURST
                && !(firstOfConnection && served < FIRST_SHARE * bound);
    }

    /** Counts a request; returns whether its turn is measured from here on. */
    boolean serves() {
        served++;
        return served == UNMEASURED;
    }

    /** Begins to measure, at a processor time of the loop's thread. */
    void measure(long cpuNanos) {
        measuredFrom = served;
        measuredSince = cpuNanos;
    }

    /** Whether the end of this turn is a measurement. */
    boolean isMeasured() {
        return served > measuredFrom && measuredFrom > 0;
    }

    void measured(long cpuNanos) {
        double each = (double) (cpuNanos - measuredSince) / (served - measuredFrom);
        serviceNanos += (each - serviceNanos) / (serviceNanos == 0 ? 1 : 8);
    }

    void turnEnds() {
        excess = Math.max(0, Math.min(BURST, excess + served - bound()));
        served = 0;
        measuredFrom = 0;
    }

    private int bound() {
        return (int) Math.max(LEAST, Math.min(MOST, targetNanos / Math.max(1, serviceNanos)));
    }
}
