package io.understudy.gateway.server;

/** Detects that pending work makes no progress over a number of checks. */
final class Stall {

    /** How often to check within the time that may pass. */
    static final int CHECKS = 4;

    private long moved;
    private int still;

    /**
     * Checks.
     *
     * @param waits whether something should move
     * @param nowMoved differs from the last check's if something has
     * @return whether the wait has been too long
     */
    boolean lasts(boolean waits, long nowMoved) {
        still = waits && nowMoved == moved ? still + 1 : 0;
        moved = nowMoved;
        // One more, as the wait may have begun just before the first.
        return still > CHECKS;
    }
}
