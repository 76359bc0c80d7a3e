package io.understudy.gateway.dashboard;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.distribution.CountAtBucket;
import io.micrometer.core.instrument.search.Search;
import io.understudy.gateway.metrics.GatewayMeter;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Rates since the last look, from the gateway's own metrics. Not thread-safe. */
final class Rates {

    static final String WATCHERS = "watchers";

    private static final List<String> CONSISTENCIES = List.of("serializable", "bounded", "at-least", "linearizable");
    private static final List<String> ORIGINS = List.of("replica", "learner", "gateway", "voter");

    private final MeterRegistry registry;
    private final LatencyShares latencies = new LatencyShares();
    private final Map<String, Double> totals = new HashMap<>();
    private long lookedNanos;

    /** The first look returns rates since now. */
    Rates(MeterRegistry registry, long nowNanos) {
        this.registry = registry;
        this.lookedNanos = nowNanos;
        Map<String, Double> unused = look(nowNanos);
    }

    /** Returns values by series, in order; unknown ones are missing. */
    Map<String, Double> look(long nowNanos) {
        double seconds = Math.max(1e-3, (nowNanos - lookedNanos) / 1e9);
        lookedNanos = nowNanos;
        Map<String, Double> values = new LinkedHashMap<>();
        CONSISTENCIES.forEach(
                each -> values.put("reads." + each, rate("reads." + each, reads("consistency", each), seconds)));
        ORIGINS.forEach(
                each -> values.put("reads.from." + each, rate("reads.from." + each, reads("origin", each), seconds)));
        latencies.look(readTimers());
        put(values, "latency.p50_ms", latencies.millis(0.5));
        put(values, "latency.p99_ms", latencies.millis(0.99));
        values.put(WATCHERS, gauge(GatewayMeter.WATCHERS));
        values.put("watch.events", rate("watch.events", counter(GatewayMeter.WATCH_EVENTS), seconds));
        values.put("apply", rate("apply", applied(), seconds));
        return values;
    }

    /** Returns all reads per second. */
    static double reads(Map<String, Double> values) {
        return CONSISTENCIES.stream()
                .mapToDouble(each -> values.getOrDefault("reads." + each, 0.0))
                .sum();
    }

    /** The sum over all its tags. */
    double gauge(GatewayMeter meter) {
        return find(meter).gauges().stream()
                .mapToDouble(Gauge::value)
                .filter(Double::isFinite)
                .sum();
    }

    private double reads(String tag, String value) {
        return find(GatewayMeter.READS).tag(tag, value).counters().stream()
                .mapToDouble(Counter::count)
                .sum();
    }

    private double counter(GatewayMeter meter) {
        return find(meter).counters().stream().mapToDouble(Counter::count).sum();
    }

    private double applied() {
        return find(GatewayMeter.REPLICA_APPLY).timers().stream()
                .mapToDouble(Timer::count)
                .sum();
    }

    /** Returns the timers of reads over gRPC, JSON and REST. */
    private List<Timer> readTimers() {
        Collection<Timer> calls = find(GatewayMeter.REQUESTS).timers();
        Collection<Timer> rest = find(GatewayMeter.REST_REQUESTS).timers();
        return Stream.concat(
                        calls.stream().filter(timer -> tagged(timer, "method", "etcdserverpb.KV/Range")),
                        rest.stream().filter(timer -> tagged(timer, "route", "/v1/kv")))
                .toList();
    }

    private Search find(GatewayMeter meter) {
        return registry.find(meter.metric().name());
    }

    private static boolean tagged(Timer timer, String tag, String beginning) {
        String value = timer.getId().getTag(tag);
        return value != null && value.startsWith(beginning);
    }

    private double rate(String series, double total, double seconds) {
        Double before = totals.put(series, total);
        return before == null ? 0 : Math.max(0, total - before) / seconds;
    }

    private static void put(Map<String, Double> values, String series, OptionalDouble value) {
        value.ifPresent(known -> values.put(series, known));
    }

    /**
     * Quantiles of the latencies since the last look, interpolated in the timers' buckets. Not thread-safe.
     */
    static final class LatencyShares {

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
}
