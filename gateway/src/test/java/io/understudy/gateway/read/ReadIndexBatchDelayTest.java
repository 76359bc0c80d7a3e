package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Tests invariant C1b. */
final class ReadIndexBatchDelayTest {

    private static final long ROUND = TimeUnit.MILLISECONDS.toNanos(1);

    private final ReadIndexBatchDelay patience = new ReadIndexBatchDelay();

    @Test
    void waitsForThoseWhoWereAnsweredNoLongerThanTwoRoundsTake() {
        assertThat(patience.begin(10, ROUND)).isEqualTo(2 * ROUND);
    }

    @Test
    void waitsNoLongerWhenRoundsTakeLong() {
        assertThat(patience.begin(10, TimeUnit.SECONDS.toNanos(1))).isEqualTo(2 * ReadIndexBatchDelay.LONGEST_NANOS);
    }

    @Test
    void waitsForNobodyWhenNobodyWasAnswered() {
        assertThat(patience.begin(0, ROUND)).isZero();
    }

    @Test
    void whoStaysAwayIsSoonWaitedForRarely() {
        assertThat(waits(1_000, 9, 1)).isBetween(20, 40);
    }

    @Test
    void whileSomeStayAwayOthersAreRarelyWaitedForLong() {
        assertThat(waits(1_000, 3, 2 * ROUND)).isBetween(20, 40);
        assertThat(waits(1_000, 3, ROUND)).isEqualTo(1_000);
    }

    @Test
    void whoComesBackIsWaitedForAgain() {
        waits(100, 10, 1);
        waits(200, 0, 1);
        assertThat(waits(100, 0, 2 * ROUND)).isEqualTo(100);
    }

    /** In how many of so many rounds, from which so many of ten stay away, they are waited for so long. */
    private int waits(int rounds, int missing, long nanos) {
        int waits = 0;
        for (int round = 0; round < rounds; round++) {
            long wait = patience.begin(10, ROUND);
            if (wait >= nanos) {
                waits++;
            }
            if (wait > 0) {
                patience.ended(missing);
            }
        }
        return waits;
    }
}
