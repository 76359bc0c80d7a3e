package io.understudy.gateway.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
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

    /** Returns the requests of a method: a served one or a fixed word, never a client's text. */
    public Requests requestsOf(String method) {
        return new Requests(GatewayMeter.REQUESTS, "method", method, "code");
    }

    /** Returns the requests of a REST route: as for {@link #requestsOf}. */
    public Requests restRequestsOf(String route) {
        return new Requests(GatewayMeter.REST_REQUESTS, "route", route, "status");
    }

    /** The requests of one method or route. */
    public final class Requests {

        private final ConcurrentMap<String, Timer> byStatus = new ConcurrentHashMap<>();
        private final GatewayMeter meter;
        private final String kind;
        private final String name;
        private final String status;

        private Requests(GatewayMeter meter, String kind, String name, String status) {
            this.meter = meter;
            this.kind = kind;
            this.name = name;
            this.status = status;
        }

        /** Records an answered request; {@code outcome} is the gRPC status name, or the HTTP status. */
        public void answered(String outcome, long tookNanos) {
            Timer timer = byStatus.get(outcome);
            if (timer == null) {
                timer = byStatus.computeIfAbsent(outcome, absent -> meter.timer()
                        .serviceLevelObjectives(BUCKETS)
                        .tags(kind, name, status, absent)
                        .register(registry));
            }
            timer.record(tookNanos, TimeUnit.NANOSECONDS);
        }
    }
}
