package io.understudy.gateway.dashboard;

import io.vertx.core.json.JsonObject;
import java.time.Duration;
import java.util.List;

/**
 * The samples of the last 15 minutes, 6 hours and 24 hours, with a point for each second, 15 seconds and minute.
 * Thread-safe.
 *
 * <p>Takes at most 1 MiB: {@link SampleRing#MOST_SERIES} series of 3,780 values of 4 bytes.
 */
final class Samples {

    static final Duration STEP = Duration.ofSeconds(1);

    private final SampleRing recent = new SampleRing(1, 900);
    private final List<SampleRing> rings = List.of(recent, new SampleRing(15, 1_440), new SampleRing(60, 1_440));

    synchronized void add(Sample sample) {
        rings.forEach(ring -> ring.add(sample));
    }

    /**
     * Returns those of the last 15 minutes after that time by series, with null for missing values. Returns all if that
     * is later than the last: the clocks differ.
     */
    synchronized JsonObject after(long timeMillis) {
        return recent.after(recent.lastMillis() >= timeMillis ? timeMillis : 0);
    }

    /** Returns those since that time, in the finest resolution that still has all of them. */
    synchronized JsonObject since(long timeMillis) {
        SampleRing finest = rings.stream()
                .filter(ring -> ring.reachesBackTo(timeMillis))
                .findFirst()
                .orElse(rings.get(rings.size() - 1));
        return finest.after(timeMillis - 1);
    }
}
