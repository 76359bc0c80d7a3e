package io.understudy.cluster.supervise.elect;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.supervise.elect.SteadyClock.ClockTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.Test;

/** An observation is as old as the clock that shows the greater age. */
final class ClockTimeTest {

    private static final ClockTime LOOK = new ClockTime(Instant.EPOCH, Instant.EPOCH);

    @Test
    void aClockThatIsSetBackMakesNoLookYounger() {
        assertThat(LOOK.until(new ClockTime(Instant.EPOCH.plusSeconds(2), Instant.EPOCH.minusSeconds(60))))
                .isEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void anObservationAgesWhileTheMachineIsSuspended() {
        assertThat(LOOK.until(new ClockTime(Instant.EPOCH, Instant.EPOCH.plusSeconds(60))))
                .isEqualTo(Duration.ofSeconds(60));
    }
}
