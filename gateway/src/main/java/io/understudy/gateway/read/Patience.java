package io.understudy.gateway.read;

import java.util.concurrent.TimeUnit;

/**
 * How long those who were just answered are waited for, to share the next round. Clients that ask again at once make it
 * worth while, and cost nobody time once they all ask together; when most stay away, nobody is waited for, until it is
 * tried again. Not for several threads at a time.
 */
final class Patience {

    /** What gathering adds to a read's time at most. */
    static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** So often in a row most must have stayed away. */
    private static final int VAIN_WAITS = 3;
    /** So many rounds nobody is waited for then. */
    private static final int PAUSE = 32;

    private int returning;
    private int vainWaits;
    private int paused;

    /**
     * Before a round is sent.
     *
     * @param answered those who may come back
     * @param roundNanos how long the last round took
     * @return for how many nanoseconds to wait for them, no longer than that round; 0 for not at all
     */
    long begin(int answered, long roundNanos) {
        if (answered == 0) {
            return 0;
        }
        if (vainWaits >= VAIN_WAITS && paused < PAUSE) {
            paused++;
            return 0;
        }
        paused = 0;
        returning = answered;
        return Math.min(LONGEST_NANOS, roundNanos);
    }

    /** @param missing of those who were waited for, how many have not come back */
    void ended(int missing) {
        vainWaits = missing * 2 > returning ? vainWaits + 1 : 0;
    }
}
