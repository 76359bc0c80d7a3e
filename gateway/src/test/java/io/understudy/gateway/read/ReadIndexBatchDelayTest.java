package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests invariant C1b. */
final class ReadIndexBatchDelayTest {

    private static final long ROUND = TimeUnit.MILLISECONDS.toNanos(1);

    private final ReadIndexBatchDelay delay = new ReadIndexBatchDelay();

    @Test
    void theDelayIsAtMostTwoRounds() {
        assertThat(delay.begin(10, ROUND)).isEqualTo(2 * ROUND);
    }

    @Test
    void theDelayIsBoundedForSlowRounds() {
        assertThat(delay.begin(10, TimeUnit.SECONDS.toNanos(1))).isEqualTo(2 * ReadIndexBatchDelay.LONGEST_NANOS);
    }

    @Test
    void thereIsNoDelayWithoutAnsweredReads() {
        assertThat(delay.begin(0, ROUND)).isZero();
    }

    @Test
    void futileDelaysBecomeRare() {
        assertThat(waits(1_000, 9, 1)).isBetween(20, 40);
    }

    @Test
    void longDelaysBecomeRareIfSomeClientsStayAway() {
        assertThat(waits(1_000, 3, 2 * ROUND)).isBetween(20, 40);
        assertThat(waits(1_000, 3, ROUND)).isEqualTo(1_000);
    }

    @Test
    void delaysResumeWhenClientsReturn() {
        waits(100, 10, 1);
        waits(200, 0, 1);
        assertThat(waits(100, 0, 2 * ROUND)).isEqualTo(100);
    }

    /** Returns the number of rounds with at least this delay, if so many of ten clients do not return. */
    private int waits(int rounds, int missing, long nanos) {
        int waits = 0;
        for (int round = 0; round < rounds; round++) {
            long wait = delay.begin(10, ROUND);
            if (wait >= nanos) {
                waits++;
            }
            if (wait > 0) {
                delay.ended(missing);
            }
        }
        return waits;
    }
}
