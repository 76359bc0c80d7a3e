package io.understudy.cluster.supervise;

import java.time.Instant;
import java.time.InstantSource;

/** A clock that starts at the time of day and is never set. Thread-safe. */
final class SteadyClock implements InstantSource {

    private final Instant began = Instant.now();
    private final long beganNanos = System.nanoTime();

    @Override
    public Instant instant() {
        return began.plusNanos(System.nanoTime() - beganNanos);
    }

    ObservationTime now() {
        return new ObservationTime(instant(), Instant.now());
    }
}
