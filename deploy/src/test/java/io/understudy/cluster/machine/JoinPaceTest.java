package io.understudy.cluster.machine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.understudy.cluster.machine.JoinThrottle.JoinPace;
import java.time.Duration;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

/** Tests invariant DP21. */
final class JoinPaceTest {

    private static final long MEBIBYTE = 1L << 20;

    @Property
    void beginsAtTheRateThatIsConfigured(@ForAll @LongRange(min = MEBIBYTE, max = 16L << 30) long rate) {
        assertThat(new JoinPace(rate).nanosFor(rate) / 1e9).isCloseTo(1, within(0.01));
    }

    @Property
    void moreTakesLongerAndNeverMoreThanAtTheFirstRate(
            @ForAll @LongRange(min = MEBIBYTE, max = 16L << 30) long rate,
            @ForAll @LongRange(min = 1, max = 64L << 30) long bytes) {
        JoinPace pace = new JoinPace(rate);

        assertThat(pace.nanosFor(bytes)).isBetween(pace.nanosFor(bytes - 1), (long) (bytes * 1e9 / rate) + 1);
    }

    @Test
    void isTwiceAsFastEveryTwoMinutes() {
        JoinPace pace = new JoinPace(8 * MEBIBYTE);
        long afterTwoMinutes = (long) (8 * MEBIBYTE * 120 / Math.log(2));

        long second = pace.nanosFor(afterTwoMinutes + 16 * MEBIBYTE) - pace.nanosFor(afterTwoMinutes);

        assertThat(pace.nanosFor(afterTwoMinutes) / 1e9).isCloseTo(120, within(0.001));
        assertThat(second / 1e9).isCloseTo(1, within(0.01));
    }

    @Test
    void theLargestDatabaseIsThereInMinutes() {
        assertThat(Duration.ofNanos(new JoinPace(8 * MEBIBYTE).nanosFor(8L << 30)))
                .isLessThan(Duration.ofMinutes(6));
    }

    @Property
    void theShareGrowsWithTheLagAndIsNeverNoneOrAll(
            @ForAll @LongRange(min = MEBIBYTE, max = 16L << 30) long rate,
            @ForAll @LongRange(min = 0, max = 64L << 30) long bytes,
            @ForAll @LongRange(min = 0, max = 1L << 40) long nanos) {
        JoinPace pace = new JoinPace(rate);

        assertThat(pace.share(bytes, nanos)).isGreaterThan(0).isBetween(pace.share(bytes + MEBIBYTE, nanos), 0.9);
    }

    @Test
    void aLagOfTwoSecondsDoublesTheShare() {
        JoinPace pace = new JoinPace(8 * MEBIBYTE);

        assertThat(pace.share(0, 2_000_000_000L) / pace.share(0, 0)).isCloseTo(2, within(0.001));
    }
}
