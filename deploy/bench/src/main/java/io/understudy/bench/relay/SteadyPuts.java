package io.understudy.bench.relay;

import io.understudy.bench.BenchException;
import io.understudy.bench.Latencies;
import io.understudy.local.process.Waiting;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Puts at a steady rate, of each of which is known when the source acknowledged it.
 *
 * @param acknowledgedNanos by the number of its key
 */
public record SteadyPuts(Map<Integer, Long> acknowledgedNanos) {

    public SteadyPuts {
        acknowledgedNanos = Map.copyOf(acknowledgedNanos);
    }

    /** Puts for that long; returns when all are acknowledged. */
    public static SteadyPuts put(SourceLoad load, int perSecond, Duration duration) throws InterruptedException {
        ConcurrentMap<Integer, Long> acknowledged = new ConcurrentHashMap<>();
        load.paced(perSecond, duration, number -> acknowledged.put((int) number, System.nanoTime()));
        return new SteadyPuts(acknowledged);
    }

    public int count() {
        return acknowledgedNanos.size();
    }

    /**
     * How long after its acknowledgement each was seen somewhere.
     *
     * @param seen when each key was, by its number; still filled
     * @throws BenchException one was not seen
     */
    public Latencies until(Map<Integer, Long> seen, Duration patience) {
        Waiting.until(
                patience,
                () -> seen.keySet().containsAll(acknowledgedNanos.keySet()) ? Optional.of(seen) : Optional.empty(),
                () -> new BenchException("not all puts were visible within " + patience.toSeconds() + " s"));
        return Latencies.of(acknowledgedNanos.entrySet().stream()
                .mapToLong(put -> Math.max(0, (seen.getOrDefault(put.getKey(), 0L) - put.getValue()) / 1_000))
                .toArray());
    }
}
