package io.understudy.gateway.server;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * What was refused and closed, and why. For any thread.
 *
 * <ul>
 *   <li>{@code understudy.gateway.requests.refused}: requests refused that may be welcome another time, by {@code reason}
 *   <li>{@code understudy.gateway.connections.closed}: connections closed that their clients would have kept, by
 *       {@code reason}
 *   <li>{@code understudy.gateway.requests.inflight}: requests with one answer that are under way
 *   <li>{@code understudy.gateway.calls}: those and streams
 *   <li>{@code understudy.gateway.loop.turns}: time that event loops took for all that they found to have arrived, where it
 *       was more than a millisecond
 * </ul>
 */
final class LoadMetrics {

    private static final String PREFIX = "understudy.gateway.";

    /** Why a request is refused that may be welcome another time. */
    enum Refusal {
        /** The event loop is late. */
        OVERLOAD,
        /** Too much is under way on the event loop. */
        LOOP,
        /** Too much is under way on the connection. */
        CONNECTION,
        /** The client sends too many. */
        RATE,
        /** What is held for the connection's requests is too much. */
        BYTES
    }

    /** Why a connection is closed. */
    enum Closure {
        /** There are too many. */
        CONNECTIONS,
        /** It is abusive. */
        ABUSE,
        /** What was begun hasn't gone on, or nothing is read. */
        STALL,
        /** Nothing is under way. */
        IDLE,
        /** Nobody is there. */
        DEAD
    }

    private final Map<Refusal, Counter> refused = new EnumMap<>(Refusal.class);
    private final Map<Closure, Counter> closed = new EnumMap<>(Closure.class);
    private final Timer turns;

    LoadMetrics(MeterRegistry registry, Supplier<Number> inFlight, Supplier<Number> calls) {
        for (Refusal each : Refusal.values()) {
            refused.put(
                    each,
                    Counter.builder(PREFIX + "requests.refused")
                            .description("Requests refused for their number")
                            .tags("reason", tag(each))
                            .register(registry));
        }
        for (Closure each : Closure.values()) {
            closed.put(
                    each,
                    Counter.builder(PREFIX + "connections.closed")
                            .description("Connections closed that their clients would have kept")
                            .tags("reason", tag(each))
                            .register(registry));
        }
        this.turns = Timer.builder(PREFIX + "loop.turns")
                .description("Time for all that had arrived on an event loop, where it was long")
                .serviceLevelObjectives(
                        Duration.ofMillis(5),
                        Duration.ofMillis(20),
                        Duration.ofMillis(50),
                        Duration.ofMillis(200),
                        Duration.ofSeconds(1))
                .register(registry);
        Gauge.builder(PREFIX + "requests.inflight", inFlight)
                .description("Requests with one answer that are under way")
                .register(registry);
        Gauge.builder(PREFIX + "calls", calls)
                .description("Calls that are open, streams included")
                .register(registry);
    }

    void refused(Refusal why) {
        Objects.requireNonNull(refused.get(why)).increment();
    }

    void closed(Closure why) {
        Objects.requireNonNull(closed.get(why)).increment();
    }

    void turned(long tookNanos) {
        turns.record(tookNanos, TimeUnit.NANOSECONDS);
    }

    private static String tag(Enum<?> reason) {
        return reason.name().toLowerCase(Locale.ROOT);
    }
}
