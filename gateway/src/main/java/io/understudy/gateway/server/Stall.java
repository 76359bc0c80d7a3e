package io.understudy.gateway.server;

/** Detects that pending work makes no progress over a number of checks. */
final class Stall {

    /** Number of checks within the timeout. */
    static final int CHECKS = 4;

    private long moved;
    private int still;

    /**
     * Checks.
     *
     * @param waits whether work is pending
     * @param nowMoved differs from the last check's after progress
     * @return whether the timeout has passed
     */
    boolean lasts(boolean waits, long nowMoved) {
        still = waits && nowMoved == moved ? still + 1 : 0;
        moved = nowMoved;
        // One more, since the wait may have begun just before the first.
        return still > CHECKS;
    }
}
