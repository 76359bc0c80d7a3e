package io.understudy.cluster.supervise;

import java.time.Duration;
import java.time.Instant;

/**
 * When an observation began: the steady clock is never set, but may stop while the machine is suspended.
 *
 * @param steady by {@link SteadyClock}
 * @param wall the time of day
 */
record ObservationTime(Instant steady, Instant wall) {

    /** What has passed until then, by the clock by which it is more. */
    Duration until(ObservationTime later) {
        Duration steadily = Duration.between(steady, later.steady);
        Duration byDay = Duration.between(wall, later.wall);
        return steadily.compareTo(byDay) > 0 ? steadily : byDay;
    }
}
