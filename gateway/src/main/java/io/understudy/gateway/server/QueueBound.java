package io.understudy.gateway.server;

/**
 * Bounds the requests of one event-loop turn by their measured service time. Confined to the loop.
 *
 * <p>A turn takes all requests that have arrived, so these are the queue. The bound is what fits into a target at the
 * CPU time per request: wall time would count other processes' use as load. Turns may exceed the bound as a leaky
 * bucket: a burst passes, and a standing queue does not.
 *
 * <p>Invariant S7: at three times the sustainable load, accepted requests are not delayed by rejected ones.
 */
final class QueueBound {

    /** Minimum bound: so few are no overload, even before code is compiled. */
    static final int LEAST = 128;

    /** Requests above the bound that pass before excess ones are rejected. */
    static final int BURST = 2_000;

    /** Factor of the bound for each connection's first request, so that no connection starves. */
    private static final int FIRST_SHARE = 4;

    private static final int MOST = Integer.MAX_VALUE / FIRST_SHARE;

    /** Requests of a turn before its measurement, which saves system calls in short turns. */
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

    /** Whether a request is rejected in favour of later ones. */
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

    /** Starts the measurement, at a CPU time of the loop's thread. */
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
