package io.understudy.etcd;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * Which endpoints failed at what lately. Immutable.
 *
 * <p>The first failure puts an endpoint back for {@link #FIRST_PAUSE}, each further one in a row for twice as long, up to
 * {@link #LONGEST_PAUSE}; success forgives.
 */
record Setbacks(Map<Attempt, Setback> recent) {

    static final Setbacks NONE = new Setbacks(Map.of());
    static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

    /** A row of failures is over when nothing was heard for this long after the pause. */
    private static final Duration MEMORY = Duration.ofMinutes(1);

    record Attempt(Endpoint endpoint, Duty duty) {}

    /**
     * @param inARow at least one
     * @param since the first of them
     */
    record Setback(int inARow, Instant since, Instant until) {}

    Setbacks {
        recent = Map.copyOf(recent);
    }

    boolean holdsBack(Endpoint endpoint, Duty duty, Instant now) {
        Setback setback = recent.get(new Attempt(endpoint, duty));
        return setback != null && now.isBefore(setback.until());
    }

    /** Whether the first failure in a row came within that time. */
    boolean failsSince(Endpoint endpoint, Duty duty, Instant now, Duration within) {
        Setback setback = recent.get(new Attempt(endpoint, duty));
        return setback != null && now.isBefore(setback.since().plus(within));
    }

    Setbacks failed(Endpoint endpoint, Duty duty, Instant now) {
        Map<Attempt, Setback> next = new HashMap<>(recent);
        next.values().removeIf(old -> old.until().plus(MEMORY).isBefore(now));
        next.compute(new Attempt(endpoint, duty), (attempt, old) -> {
            int inARow = old == null ? 1 : old.inARow() + 1;
            return new Setback(inARow, old == null ? now : old.since(), now.plus(pause(inARow)));
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

    /** The endpoint answers again after an outage: whatever failed during it is no longer held against it. */
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
