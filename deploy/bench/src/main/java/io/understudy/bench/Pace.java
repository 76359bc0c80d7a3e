package io.understudy.bench;

/**
 * The rate of requests, within the limit on requests in flight.
 *
 * @param perSecond over all connections; infinite for each as soon as another is answered
 */
record Pace(double perSecond) {

    static final Pace FULL = new Pace(Double.POSITIVE_INFINITY);

    Pace {
        if (!(perSecond > 0)) {
            throw new IllegalArgumentException("requests per second must be positive, not " + perSecond);
        }
    }

    boolean isFull() {
        return Double.isInfinite(perSecond);
    }

    /** When the request of that index is due, in nanoseconds after the first. */
    long dueNanos(long index) {
        return isFull() ? 0 : Math.round(index * 1e9 / perSecond);
    }
}
