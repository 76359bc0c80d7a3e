package io.understudy.cluster.machine;

/**
 * How fast a snapshot is taken: slowly at first, and twice as fast every two minutes, so that however large it is, a
 * newcomer has all of it in minutes. Meanwhile its leader keeps every entry of its log, and its database reuses no page
 * that was freed.
 *
 * @param bytesPerSecond at first
 */
record JoinPace(long bytesPerSecond) {

    private static final double DOUBLING_SECONDS = 120;

    /** Of a processor, about what a newcomer needs for the first rate if that is the usual one. */
    private static final double SHARE = 1 / 300.0;

    private static final double LEAST_SHARE = SHARE / 16;
    private static final double LARGEST_SHARE = 0.9;

    /** The lead that halves a member's share, and the lag that doubles it. */
    private static final double HALVING_SECONDS = 2;

    /**
     * What part of the time one receives, to be neither ahead nor behind by more than seconds.
     *
     * @param bytes it has
     * @param nanos since the begin
     */
    double share(long bytes, long nanos) {
        double aheadSeconds = (nanosFor(bytes) - nanos) / 1e9;
        return Math.max(LEAST_SHARE, Math.min(SHARE * Math.pow(2, -aheadSeconds / HALVING_SECONDS), LARGEST_SHARE));
    }

    /** How long after the begin there may be so many bytes: the integral of the rate, solved for the time. */
    long nanosFor(long bytes) {
        double doublings = Math.log1p(bytes * Math.log(2) / (bytesPerSecond * DOUBLING_SECONDS)) / Math.log(2);
        return (long) (doublings * DOUBLING_SECONDS * 1e9);
    }
}
