package io.understudy.gateway.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.LongStream;

/** Metrics of the gateway, except those of reads and calls. Thread-safe. */
public final class GatewayMetrics {

    /** Buckets in steps of 1, 2 and 5, for quantiles within a factor of two. */
    private static final Duration[] BUCKETS = LongStream.of(
                    10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000, 500_000,
                    1_000_000, 2_000_000, 5_000_000)
            .mapToObj(micros -> Duration.ofNanos(micros * 1_000))
            .toArray(Duration[]::new);

    private final MeterRegistry registry;
    private final Timer apply;
    private final Counter resyncs;
    private final Counter drops;
    private final Counter ended;
    private final Counter verified;
    private final ConcurrentMap<RestCall, Timer> restRequests = new ConcurrentHashMap<>();

    private record RestCall(String route, String status) {}

    public GatewayMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.apply = GatewayMeter.REPLICA_APPLY
                .timer()
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
        this.resyncs = GatewayMeter.FEED_RESYNCS.counter().register(registry);
        this.drops = GatewayMeter.REPLICA_DROPS.counter().register(registry);
        this.ended = GatewayMeter.RESPONSES_ENDED.counter().register(registry);
        this.verified = GatewayMeter.VERIFY_KEYS.counter().register(registry);
        // Registered from the start, so that the first increase is visible.
        differed("replica", 0);
        differed("source", 0);
    }

    public void verified(int keys) {
        verified.increment(keys);
    }

    /** Records differing keys of the faulty {@code side}, {@code replica} or {@code source}. */
    public void differed(String side, int keys) {
        GatewayMeter.VERIFY_DIFFERENCES
                .counter()
                .tags("side", side)
                .register(registry)
                .increment(keys);
    }

    public void dropped() {
        drops.increment();
    }

    /** Responses were ended that kept old versions. */
    public void ended(int responses) {
        ended.increment(responses);
    }

    public void applied(Duration took) {
        apply.record(took);
    }

    public void resynchronised() {
        resyncs.increment();
    }

    /**
     * The requests of a method.
     *
     * @param method a served method or a fixed word, never a client's text
     */
    public Requests requestsOf(String method) {
        return new Requests(method);
    }

    /** The requests of one method. */
    public final class Requests {

        private final ConcurrentMap<String, Timer> byCode = new ConcurrentHashMap<>();
        private final String method;

        private Requests(String method) {
            this.method = method;
        }

        /** Records an answered request; {@code code} is the gRPC status name. */
        public void answered(String code, long tookNanos) {
            Timer timer = byCode.get(code);
            if (timer == null) {
                timer = byCode.computeIfAbsent(code, absent -> GatewayMeter.REQUESTS
                        .timer()
                        .serviceLevelObjectives(BUCKETS)
                        .tags("method", method, "code", absent)
                        .register(registry));
            }
            timer.record(tookNanos, TimeUnit.NANOSECONDS);
        }
    }

    /**
     * Records an answered REST request.
     *
     * @param route a served route or a fixed word, never a client's text
     * @param status HTTP status
     */
    public void answeredRest(String route, String status, long tookNanos) {
        restRequests
                .computeIfAbsent(new RestCall(route, status), call -> GatewayMeter.REST_REQUESTS
                        .timer()
                        .serviceLevelObjectives(BUCKETS)
                        .tags("route", call.route(), "status", call.status())
                        .register(registry))
                .record(tookNanos, TimeUnit.NANOSECONDS);
    }

    /** Values read on each scrape. */
    public record Gauges(
            Supplier<Number> ready,
            Supplier<Number> revision,
            Supplier<Number> keys,
            Supplier<Number> bytes,
            Supplier<Number> heapBytes,
            Supplier<Number> windowCommits,
            Supplier<Number> windowBytes,
            Supplier<Number> keptBytes,
            Supplier<Number> lagRevisions,
            Supplier<Number> hasState,
            Supplier<Number> silenceSeconds,
            Supplier<Number> connections,
            Supplier<Number> restStreams) {}

    public void observe(Gauges gauges) {
        GatewayMeter.READY.gauge(gauges.ready()).register(registry);
        GatewayMeter.REPLICA_REVISION.gauge(gauges.revision()).register(registry);
        GatewayMeter.REPLICA_KEYS.gauge(gauges.keys()).register(registry);
        GatewayMeter.REPLICA_BYTES.gauge(gauges.bytes()).register(registry);
        GatewayMeter.REPLICA_HEAP.gauge(gauges.heapBytes()).register(registry);
        GatewayMeter.WINDOW_COMMITS.gauge(gauges.windowCommits()).register(registry);
        GatewayMeter.WINDOW_BYTES.gauge(gauges.windowBytes()).register(registry);
        GatewayMeter.RESPONSES_KEPT.gauge(gauges.keptBytes()).register(registry);
        GatewayMeter.REPLICA_LAG.gauge(gauges.lagRevisions()).register(registry);
        GatewayMeter.REPLICA_READY.gauge(gauges.hasState()).register(registry);
        GatewayMeter.FEED_SILENCE.gauge(gauges.silenceSeconds()).register(registry);
        GatewayMeter.CONNECTIONS.gauge(gauges.connections()).register(registry);
        GatewayMeter.REST_STREAMS.gauge(gauges.restStreams()).register(registry);
    }
}
