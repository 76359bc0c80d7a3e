package io.understudy.gateway.read;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.gateway.read.Answer.Provenance.Consistency;
import io.understudy.gateway.read.Answer.Provenance.Origin;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Metrics of reads. Thread-safe. */
final class ReadMetrics {

    private final MeterRegistry registry;
    private final Map<Consistency, Map<Origin, Counter>> answered = new EnumMap<>(Consistency.class);
    private final Map<Consistency, Timer> met = new EnumMap<>(Consistency.class);
    private final Map<Consistency, Timer> expired = new EnumMap<>(Consistency.class);
    private final Timer evaluation;
    private final Timer confirmed;
    private final Timer failed;

    ReadMetrics(MeterRegistry registry) {
        this.registry = registry;
        for (Consistency consistency : Consistency.values()) {
            Map<Origin, Counter> byOrigin = new EnumMap<>(Origin.class);
            for (Origin origin : Origin.values()) {
                byOrigin.put(
                        origin,
                        GatewayMeter.READS
                                .counter()
                                .tags("consistency", consistency.word(), "origin", origin.word())
                                .register(registry));
            }
            answered.put(consistency, byOrigin);
            met.put(consistency, waits(consistency, "met"));
            expired.put(consistency, waits(consistency, "expired"));
        }
        this.evaluation = GatewayMeter.READS_EVALUATION.timer().register(registry);
        this.confirmed = rounds("ok");
        this.failed = rounds("failed");
    }

    void answered(Consistency consistency, Origin origin) {
        Map<Origin, Counter> byOrigin = Objects.requireNonNull(answered.get(consistency));
        Objects.requireNonNull(byOrigin.get(origin)).increment();
    }

    void waited(Consistency consistency, boolean wasMet, Duration took) {
        Objects.requireNonNull((wasMet ? met : expired).get(consistency)).record(took);
    }

    void evaluated(long nanos) {
        evaluation.record(nanos, TimeUnit.NANOSECONDS);
    }

    void observeEvaluationsWaiting(Supplier<Number> waiting) {
        GatewayMeter.READS_EVALUATION_WAITING.gauge(waiting).register(registry);
    }

    void round(Duration took, boolean wasConfirmed) {
        (wasConfirmed ? confirmed : failed).record(took);
    }

    void heartbeat(boolean isTrusted) {
        GatewayMeter.HEARTBEATS
                .counter()
                .tag("outcome", isTrusted ? "accepted" : "future")
                .register(registry)
                .increment();
    }

    void observeStaleness(Supplier<Number> seconds) {
        GatewayMeter.STALENESS.gauge(seconds).register(registry);
    }

    void observePassedThrough(Supplier<Number> bytes) {
        GatewayMeter.PASSEDTHROUGH.gauge(bytes).register(registry);
    }

    private Timer waits(Consistency consistency, String outcome) {
        return GatewayMeter.READS_WAIT
                .timer()
                .tags("consistency", consistency.word(), "outcome", outcome)
                .register(registry);
    }

    private Timer rounds(String outcome) {
        return GatewayMeter.READINDEX_ROUNDS.timer().tag("outcome", outcome).register(registry);
    }
}
