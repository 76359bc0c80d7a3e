package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

final class PatienceTest {

    private static final long ROUND = TimeUnit.MILLISECONDS.toNanos(1);

    private final Patience patience = new Patience();

    @Test
    void waitsForThoseWhoWereAnsweredNoLongerThanARoundTakes() {
        assertThat(patience.begin(10, ROUND)).isEqualTo(ROUND);
    }

    @Test
    void waitsNoLongerWhenRoundsTakeLong() {
        assertThat(patience.begin(10, TimeUnit.SECONDS.toNanos(1))).isEqualTo(Patience.LONGEST_NANOS);
    }

    @Test
    void waitsForNobodyWhenNobodyWasAnswered() {
        assertThat(patience.begin(0, ROUND)).isZero();
    }

    @Test
    void whoStaysAwayIsSoonWaitedForRarely() {
        int waits = 0;
        for (int round = 0; round < 1_000; round++) {
            if (patience.begin(10, ROUND) > 0) {
                waits++;
                patience.ended(9);
            }
        }
        assertThat(waits).isBetween(20, 40);
    }

    @Test
    void whoComesBackIsWaitedForAgain() {
        for (int round = 0; round < 100; round++) {
            if (patience.begin(10, ROUND) > 0) {
                patience.ended(10);
            }
        }
        for (int round = 0; round < 100; round++) {
            if (patience.begin(10, ROUND) > 0) {
                patience.ended(0);
            }
        }
        assertThat(patience.begin(10, ROUND)).isEqualTo(ROUND);
    }
}
