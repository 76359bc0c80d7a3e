package io.understudy.gateway.read;

import java.util.concurrent.TimeUnit;

/**
 * Chooses how long a read-index round is delayed to batch more reads. Clients that send the next read at once make this
 * worthwhile, and it adds no latency while they are in step. Then the delay is twice as long, since a round for a few
 * early clients costs the servers as much as one for all. If few clients return in time, the delay is skipped or
 * shortened for a while. Not thread-safe.
 */
final class ReadIndexBatchDelay {

    /** Longest delay for clients that may not return. */
    static final long LONGEST_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    /** Futile delays in a row before a pause. */
    private static final int VAIN_WAITS = 3;
    /** Length of a pause in rounds. */
    private static final int PAUSE = 32;
    /** A long delay is futile if more than one in so many clients is missing. */
    private static final int FEW = 8;

    private final Trial waiting = new Trial();
    private final Trial waitingLong = new Trial();
    private int returning;
    private boolean isLong;

    /** An attempt that is paused after several failures in a row. */
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
     * Returns the delay of the next round.
     *
     * @param answered clients that may return
     * @param roundNanos duration of the last round
     * @return nanoseconds, at most two such rounds; 0 for no delay
     */
    long begin(int answered, long roundNanos) {
        if (answered == 0 || !waiting.isDue()) {
            return 0;
        }
        returning = answered;
        isLong = waitingLong.isDue();
        return Math.min(LONGEST_NANOS, roundNanos) * (isLong ? 2 : 1);
    }

    /** @param missing clients that have not returned */
    void ended(int missing) {
        waiting.ended(missing * 2 > returning);
        if (isLong) {
            waitingLong.ended(missing * FEW > returning);
        }
    }
}
