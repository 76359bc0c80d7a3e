package io.understudy.gateway.dashboard;

import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Quantiles of the latencies since the last look, interpolated in the timers' buckets. Not thread-safe.
 */
final class LatencyShares {

    /** Cumulative counts of all timers by upper bound in nanoseconds. */
    private Map<Double, Double> before = Map.of();

    private TreeMap<Double, Double> recent = new TreeMap<>();
    private double total;
    private double totalBefore;

    /** Reads the timers, which have equal buckets. */
    void look(Collection<Timer> timers) {
        Map<Double, Double> now = new HashMap<>();
        double count = 0;
        for (Timer timer : timers) {
            for (CountAtBucket bucket : timer.takeSnapshot().histogramCounts()) {
                if (bucket.bucket() < Double.MAX_VALUE) {
                    now.merge(bucket.bucket(TimeUnit.NANOSECONDS), bucket.count(), Double::sum);
                }
            }
            count += timer.count();
        }
        TreeMap<Double, Double> since = new TreeMap<>();
        now.forEach((bound, sum) -> since.put(bound, sum - before.getOrDefault(bound, 0.0)));
        recent = since;
        total = count - totalBefore;
        totalBefore = count;
        before = now;
    }

    /** Returns a quantile in milliseconds; empty without samples. */
    OptionalDouble millis(double share) {
        if (total <= 0 || recent.isEmpty()) {
            return OptionalDouble.empty();
        }
        double wanted = share * total;
        double lowerBound = 0;
        double below = 0;
        for (Map.Entry<Double, Double> bucket : recent.entrySet()) {
            if (bucket.getValue() >= wanted) {
                double inside = bucket.getValue() - below;
                double part = inside <= 0 ? 1 : (wanted - below) / inside;
                return OptionalDouble.of((lowerBound + part * (bucket.getKey() - lowerBound)) / 1e6);
            }
            lowerBound = bucket.getKey();
            below = bucket.getValue();
        }
        // At least the last bound.
        return OptionalDouble.of(lowerBound / 1e6);
    }
}
