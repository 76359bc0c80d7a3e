package io.understudy.cluster.supervise.elect;

import java.time.Duration;
import java.time.Instant;

/**
 * A time by two clocks. The steady one is never set, but may stop while the machine is suspended.
 *
 * @param steady by {@link SteadyClock}
 * @param wall the time of day
 */
public record ClockTime(Instant steady, Instant wall) {

    /** Returns the elapsed time, by the clock with the larger value. */
    public Duration until(ClockTime later) {
        Duration steadily = Duration.between(steady, later.steady);
        Duration byDay = Duration.between(wall, later.wall);
        return steadily.compareTo(byDay) > 0 ? steadily : byDay;
    }
}
