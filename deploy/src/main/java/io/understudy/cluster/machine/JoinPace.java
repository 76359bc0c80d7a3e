package io.understudy.cluster.machine;

/**
 * How fast a snapshot is taken: slowly at first, and twice as fast every two minutes, so that however large it is, a
 * newcomer has all of it in minutes. Meanwhile its leader keeps every entry of its log, and its database reuses no page that was freed.
 *
 * @param bytesPerSecond at first
 */
record JoinPace(long bytesPerSecond) {

    private static final double DOUBLING_SECONDS = 120;

    /** How long after the begin there may be so many bytes: the integral of the rate, solved for the time. */
    long nanosFor(long bytes) {
        double doublings = Math.log1p(bytes * Math.log(2) / (bytesPerSecond * DOUBLING_SECONDS)) / Math.log(2);
        return (long) (doublings * DOUBLING_SECONDS * 1e9);
    }
}
