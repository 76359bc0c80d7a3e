package io.understudy.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.etcd.EndpointChoice.Setbacks;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Tests invariant E2. */
final class SetbacksTest {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final Endpoint HERE = new Endpoint("here", 2379, false);
    private static final Endpoint THERE = new Endpoint("there", 2379, false);

    @Test
    void eachFurtherFailureHoldsBackTwiceAsLongUpToALimit() {
        Setbacks setbacks = Setbacks.NONE;
        Duration pause = Setbacks.FIRST_PAUSE;
        for (int failure = 0; failure < 40; failure++) {
            setbacks = setbacks.failed(HERE, Duty.WATCH, NOW);

            assertThat(setbacks.holdsBack(HERE, Duty.WATCH, NOW.plus(pause).minusNanos(1)))
                    .isTrue();
            assertThat(setbacks.holdsBack(HERE, Duty.WATCH, NOW.plus(pause))).isFalse();
            pause = pause.multipliedBy(2);
            pause = pause.compareTo(Setbacks.LONGEST_PAUSE) > 0 ? Setbacks.LONGEST_PAUSE : pause;
        }
    }

    @Test
    void failuresCountPerEndpointAndDuty() {
        Setbacks setbacks = Setbacks.NONE.failed(HERE, Duty.WATCH, NOW);

        assertThat(setbacks.holdsBack(HERE, Duty.WRITE, NOW)).isFalse();
        assertThat(setbacks.holdsBack(THERE, Duty.WATCH, NOW)).isFalse();
    }

    @Test
    void successResetsTheCount() {
        Setbacks setbacks = Setbacks.NONE
                .failed(HERE, Duty.WATCH, NOW)
                .failed(HERE, Duty.WATCH, NOW)
                .succeeded(HERE, Duty.WATCH)
                .failed(HERE, Duty.WATCH, NOW);

        assertThat(setbacks.holdsBack(HERE, Duty.WATCH, NOW.plus(Setbacks.FIRST_PAUSE)))
                .isFalse();
    }

    @Test
    void aReturnFromAnOutageForgivesEveryDuty() {
        Setbacks setbacks = Setbacks.NONE
                .failed(HERE, Duty.WATCH, NOW)
                .failed(HERE, Duty.WRITE, NOW)
                .failed(THERE, Duty.WRITE, NOW)
                .forgive(HERE);

        assertThat(setbacks.recent()).containsOnlyKeys(new Setbacks.Attempt(THERE, Duty.WRITE));
    }

    @Test
    void whatIsLongPastIsForgotten() {
        Setbacks setbacks =
                Setbacks.NONE.failed(HERE, Duty.WATCH, NOW).failed(THERE, Duty.WATCH, NOW.plus(Duration.ofMinutes(5)));

        assertThat(setbacks.recent()).containsOnlyKeys(new Setbacks.Attempt(THERE, Duty.WATCH));
    }
}
