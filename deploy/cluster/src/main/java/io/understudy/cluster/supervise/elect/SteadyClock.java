package io.understudy.cluster.supervise.elect;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;

/** A clock that starts at the time of day and is never set. Thread-safe. */
public final class SteadyClock implements InstantSource {

    private final Instant began = Instant.now();
    private final long beganNanos = System.nanoTime();

    @Override
    public Instant instant() {
        return began.plusNanos(System.nanoTime() - beganNanos);
    }

    public ClockTime now() {
        return new ClockTime(instant(), Instant.now());
    }

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
}
