package io.understudy.gateway.metrics;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * What the gateway measures. For any thread.
 *
 * <ul>
 *   <li>{@code understudy.gateway.replica.revision}: revision of the published state
 *   <li>{@code understudy.gateway.replica.keys}: keys in it
 *   <li>{@code understudy.gateway.replica.bytes}: bytes of their keys and values
 *   <li>{@code understudy.gateway.replica.lag}: revisions between it and the newest one known of any member
 *   <li>{@code understudy.gateway.replica.ready}: 1 once the first snapshot is complete
 *   <li>{@code understudy.gateway.replica.heap}: memory that it takes, its past revisions included, by its own account
 *   <li>{@code understudy.gateway.replica.drops}: times it was given up, to be built anew later
 *   <li>{@code understudy.gateway.window.commits}: past commits that are held
 *   <li>{@code understudy.gateway.window}: bytes that they take
 *   <li>{@code understudy.gateway.verify.keys}: keys of the source that the replica was compared with
 *   <li>{@code understudy.gateway.verify.differences}: keys that were not the same on both sides, by the {@code side}
 *       whose fault that is, {@code replica} or {@code source}
 *   <li>{@code understudy.gateway.replica.apply}: time to apply and publish a commit
 *   <li>{@code understudy.gateway.feed.silence}: seconds since the feed told anything
 *   <li>{@code understudy.gateway.feed.resyncs}: gaps answered by a new snapshot
 *   <li>{@code understudy.gateway.connections}: open connections of clients
 *   <li>{@code understudy.gateway.requests}: time to answer, by {@code method} and {@code code}
 *   <li>{@code understudy.gateway.rest.requests}: time to answer REST, by {@code route} and {@code status}
 *   <li>{@code understudy.gateway.rest.streams}: streams of commits that are open
 * </ul>
 */
public final class GatewayMetrics {

    private static final String PREFIX = "understudy.gateway.";

    private static final Duration[] BUCKETS = {
        Duration.ofNanos(10_000),
        Duration.ofNanos(100_000),
        Duration.ofMillis(1),
        Duration.ofMillis(10),
        Duration.ofMillis(100),
        Duration.ofSeconds(1)
    };

    private final MeterRegistry registry;
    private final Timer apply;
    private final Counter resyncs;
    private final Counter drops;
    private final Counter verified;
    private final ConcurrentMap<RestCall, Timer> restRequests = new ConcurrentHashMap<>();

    private record RestCall(String route, int status) {}

    public GatewayMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.apply = Timer.builder(PREFIX + "replica.apply")
                .description("Time to apply and publish a commit")
                .serviceLevelObjectives(BUCKETS)
                .register(registry);
        this.resyncs = Counter.builder(PREFIX + "feed.resyncs")
                .description("Gaps answered by a new snapshot")
                .register(registry);
        this.drops = Counter.builder(PREFIX + "replica.drops")
                .description("Times the replica was given up, to be built anew later")
                .register(registry);
        this.verified = Counter.builder(PREFIX + "verify.keys")
                .description("Keys of the source that the replica was compared with")
                .register(registry);
    }

    public void verified(int keys) {
        verified.increment(keys);
    }

    /** So many keys are not the same, by the fault of {@code side}, {@code replica} or {@code source}. */
    public void differed(String side, int keys) {
        Counter.builder(PREFIX + "verify.differences")
                .description("Keys that were not the same on both sides")
                .tags("side", side)
                .register(registry)
                .increment(keys);
    }

    public void dropped() {
        drops.increment();
    }

    public void applied(Duration took) {
        apply.record(took);
    }

    public void resynchronised() {
        resyncs.increment();
    }

    /** {@code method} is one of the served methods, else a fixed word: never what a client made up. */
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

        /** A request was answered; {@code code} is gRPC's name of the answer's code. */
        public void answered(String code, long tookNanos) {
            Timer timer = byCode.get(code);
            if (timer == null) {
                timer = byCode.computeIfAbsent(code, absent -> Timer.builder(PREFIX + "requests")
                        .description("Time to answer a request")
                        .serviceLevelObjectives(BUCKETS)
                        .tags("method", method, "code", absent)
                        .register(registry));
            }
            timer.record(tookNanos, TimeUnit.NANOSECONDS);
        }
    }

    /**
     * A REST request was answered.
     *
     * @param route one of those served, else a fixed word: never what a client made up
     * @param status HTTP's
     */
    public void answeredRest(String route, int status, Duration took) {
        restRequests
                .computeIfAbsent(new RestCall(route, status), call -> Timer.builder(PREFIX + "rest.requests")
                        .description("Time to answer a REST request")
                        .serviceLevelObjectives(BUCKETS)
                        .tags("route", call.route(), "status", Integer.toString(call.status()))
                        .register(registry))
                .record(took);
    }

    /** What is read when somebody asks. */
    public record Gauges(
            Supplier<Number> revision,
            Supplier<Number> keys,
            Supplier<Number> bytes,
            Supplier<Number> heapBytes,
            Supplier<Number> windowCommits,
            Supplier<Number> windowBytes,
            Supplier<Number> lagRevisions,
            Supplier<Number> ready,
            Supplier<Number> silenceSeconds,
            Supplier<Number> connections,
            Supplier<Number> restStreams) {}

    public void observe(Gauges gauges) {
        gauge("replica.revision", "Revision of the published state", "", gauges.revision());
        gauge("replica.keys", "Keys in the published state", "", gauges.keys());
        gauge("replica.bytes", "Bytes of keys and values", BaseUnits.BYTES, gauges.bytes());
        gauge("replica.heap", "Memory the replica takes", BaseUnits.BYTES, gauges.heapBytes());
        gauge("window.commits", "Past commits that are held", "", gauges.windowCommits());
        gauge("window", "Memory that past commits take", BaseUnits.BYTES, gauges.windowBytes());
        gauge("replica.lag", "Revisions behind the newest known", "revisions", gauges.lagRevisions());
        gauge("replica.ready", "Whether the first snapshot is complete", "", gauges.ready());
        gauge("feed.silence", "Time since the feed told anything", "seconds", gauges.silenceSeconds());
        gauge("connections", "Open connections of clients", "", gauges.connections());
        gauge("rest.streams", "Open streams of commits", "", gauges.restStreams());
    }

    private void gauge(String name, String description, String unit, Supplier<Number> value) {
        Gauge.builder(PREFIX + name, value)
                .description(description)
                .baseUnit(unit.isEmpty() ? null : unit)
                .register(registry);
    }
}
