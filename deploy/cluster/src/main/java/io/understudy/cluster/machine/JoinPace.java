package io.understudy.cluster.machine;

/**
 * Rate of a snapshot: slow initially, doubled every two minutes. So it takes minutes, however large. Meanwhile the
 * leader keeps every entry of its log, and its database reuses no freed page.
 *
 * @param bytesPerSecond initial rate
 */
record JoinPace(long bytesPerSecond) {

    private static final double DOUBLING_SECONDS = 120;

    /** Share of a processor that about yields the usual initial rate. */
    private static final double SHARE = 1 / 300.0;

    private static final double LEAST_SHARE = SHARE / 16;
    private static final double LARGEST_SHARE = 0.9;

    /** The lead that halves a member's share, and the lag that doubles it. */
    private static final double HALVING_SECONDS = 2;

    /**
     * Returns the share of time to receive, which corrects a lead or lag of seconds.
     *
     * @param bytes received bytes
     * @param nanos time since the start
     */
    double share(long bytes, long nanos) {
        double aheadSeconds = (nanosFor(bytes) - nanos) / 1e9;
        return Math.max(LEAST_SHARE, Math.min(SHARE * Math.pow(2, -aheadSeconds / HALVING_SECONDS), LARGEST_SHARE));
    }

    /** Returns the time for that many bytes: the integral of the rate, solved for time. */
    long nanosFor(long bytes) {
        double doublings = Math.log1p(bytes * Math.log(2) / (bytesPerSecond * DOUBLING_SECONDS)) / Math.log(2);
        return (long) (doublings * DOUBLING_SECONDS * 1e9);
    }
}
