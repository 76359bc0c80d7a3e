package io.understudy.gateway.read;

import java.util.concurrent.TimeUnit;

/**
 * How long those who were just answered are waited for, to share the next round. Clients that ask again at once make it
 * worth while, and cost nobody time once they all ask together: then they may take twice as long as others, since a round
 * for the few who are quicker costs its servers as much as one for all. When most stay away, nobody is waited for, and
 * when some do, not for so long, until it is tried again. Not for several threads at a time.
 */
final class Patience {

    /** For how long those who may stay away are waited for at most. */
    static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** So often in a row it must have been in vain. */
    private static final int VAIN_WAITS = 3;
    /** For so many rounds it is not tried then. */
    private static final int PAUSE = 32;
    /** Of those who are waited for long, one in so many may stay away. */
    private static final int FEW = 8;

    private final Trial waiting = new Trial();
    private final Trial waitingLong = new Trial();
    private int returning;
    private boolean isLong;

    /** Something that is left alone for a while when it was in vain some times in a row. */
    private static final class Trial {
        private int vain;
        private int paused;

        boolean isDue() {
            if (vain >= VAIN_WAITS && paused < PAUSE) {
                paused++;
                return false;
            }
            paused = 0;
            return true;
        }

        void ended(boolean inVain) {
            vain = inVain ? vain + 1 : 0;
        }
    }

    /**
     * Before a round is sent.
     *
     * @param answered those who may come back
     * @param roundNanos how long the last round took
     * @return for how many nanoseconds to wait for them, no longer than two such rounds; 0 for not at all
     */
    long begin(int answered, long roundNanos) {
        if (answered == 0 || !waiting.isDue()) {
            return 0;
        }
        returning = answered;
        isLong = waitingLong.isDue();
        return Math.min(LONGEST_NANOS, roundNanos) * (isLong ? 2 : 1);
    }

    /** @param missing of those who were waited for, how many have not come back */
    void ended(int missing) {
        waiting.ended(missing * 2 > returning);
        if (isLong) {
            waitingLong.ended(missing * FEW > returning);
        }
    }
}
