package io.understudy.etcd;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * Recent failures by endpoint and duty. Immutable.
 *
 * <p>The first failure puts an endpoint back for {@link #FIRST_PAUSE}, each further one in a row for twice as long, up
 * to {@link #LONGEST_PAUSE}; a success clears them.
 */
record Setbacks(Map<Attempt, Setback> recent) {

    static final Setbacks NONE = new Setbacks(Map.of());
    static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    /** Time after the pause that ends a series of failures, if there is no other. */
    private static final Duration MEMORY = Duration.ofMinutes(1);

    record Attempt(Endpoint endpoint, Duty duty) {}

    /** @param inARow at least one */
    record Setback(int inARow, Instant until) {}

    Setbacks {
        recent = Map.copyOf(recent);
    }

    boolean holdsBack(Endpoint endpoint, Duty duty, Instant now) {
        Setback setback = recent.get(new Attempt(endpoint, duty));
        return setback != null && now.isBefore(setback.until());
    }

    Setbacks failed(Endpoint endpoint, Duty duty, Instant now) {
        Map<Attempt, Setback> next = new HashMap<>(recent);
        next.values().removeIf(old -> old.until().plus(MEMORY).isBefore(now));
        next.compute(new Attempt(endpoint, duty), (attempt, old) -> {
            int inARow = old == null ? 1 : old.inARow() + 1;
            return new Setback(inARow, now.plus(pause(inARow)));
        });
        return new Setbacks(next);
    }

    Setbacks succeeded(Endpoint endpoint, Duty duty) {
        Attempt attempt = new Attempt(endpoint, duty);
        if (!recent.containsKey(attempt)) {
            return this;
        }
        Map<Attempt, Setback> next = new HashMap<>(recent);
        next.remove(attempt);
        return new Setbacks(next);
    }

    /** Clears all failures of an endpoint that responds again after an outage. */
    Setbacks forgive(Endpoint endpoint) {
        Map<Attempt, Setback> next = new HashMap<>(recent);
        boolean changed = next.keySet().removeIf(attempt -> attempt.endpoint().equals(endpoint));
        return changed ? new Setbacks(next) : this;
    }

    private static Duration pause(int inARow) {
        Duration doubled = FIRST_PAUSE.multipliedBy(1L << Math.min(inARow - 1, 10));
        return doubled.compareTo(LONGEST_PAUSE) > 0 ? LONGEST_PAUSE : doubled;
    }
}
