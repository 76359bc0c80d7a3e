package io.understudy.gateway.read;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.micrometer.core.instrument.binder.BaseUnits;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * What is measured of reads. For any thread.
 *
 * <ul>
 *   <li>{@code understudy.gateway.reads} (counter; {@code consistency}, {@code origin}): reads answered, by who had it
 *   <li>{@code understudy.gateway.reads.wait} (timer; {@code consistency}, {@code outcome}): of reads that waited for a
 *       round or a revision, until it was {@code met} or given up ({@code expired})
 *   <li>{@code understudy.gateway.reads.evaluation} (timer): to put answers together off the event loops, those that look
 *       at many entries
 *   <li>{@code understudy.gateway.reads.evaluation.waiting} (gauge): answers that wait for that
 *   <li>{@code understudy.gateway.readindex.rounds} (timer; {@code outcome}): read-index rounds
 *   <li>{@code understudy.gateway.heartbeats} (counter; {@code outcome}): heartbeats of a mirror, {@code believed}, or not
 *       since they came from the {@code future}
 *   <li>{@code understudy.gateway.staleness} (gauge, seconds): of the replica; no number while nobody knows
 *   <li>{@code understudy.gateway.passedthrough} (gauge, bytes): held of the source's answers, or kept free for them
 * </ul>
 */
final class ReadMetrics {

    private static final String PREFIX = "understudy.gateway.";
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
                        Counter.builder(PREFIX + "reads")
                                .description("Reads answered")
                                .tags("consistency", spelled(consistency), "origin", spelled(origin))
                                .register(registry));
            }
            answered.put(consistency, byOrigin);
            met.put(consistency, waits(consistency, "met"));
            expired.put(consistency, waits(consistency, "expired"));
        }
        this.evaluation = Timer.builder(PREFIX + "reads.evaluation")
                .description("Time to put answers together off the event loops")
                .register(registry);
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
        Gauge.builder(PREFIX + "reads.evaluation.waiting", waiting)
                .description("Answers that wait to be put together off the event loops")
                .register(registry);
    }

    void round(Duration took, boolean wasConfirmed) {
        (wasConfirmed ? confirmed : failed).record(took);
    }

    void heartbeat(boolean isBelieved) {
        Counter.builder(PREFIX + "heartbeats")
                .description("Heartbeats of a mirror")
                .tag("outcome", isBelieved ? "believed" : "future")
                .register(registry)
                .increment();
    }

    void observeStaleness(Supplier<Number> seconds) {
        Gauge.builder(PREFIX + "staleness", seconds)
                .description("Time since the replica is known to have been current")
                .baseUnit("seconds")
                .register(registry);
    }

    void observePassedThrough(Supplier<Number> bytes) {
        Gauge.builder(PREFIX + "passedthrough", bytes)
                .description("Held of the source's answers, or kept free for them")
                .baseUnit(BaseUnits.BYTES)
                .register(registry);
    }

    private Timer waits(Consistency consistency, String outcome) {
        return Timer.builder(PREFIX + "reads.wait")
                .description("Time that reads waited to be fresh enough")
                .tags("consistency", spelled(consistency), "outcome", outcome)
                .register(registry);
    }

    private Timer rounds(String outcome) {
        return Timer.builder(PREFIX + "readindex.rounds")
                .description("Read-index rounds")
                .tag("outcome", outcome)
                .register(registry);
    }

    private static String spelled(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
