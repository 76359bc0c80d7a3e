package io.understudy.cluster.supervise.elect;

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
}
