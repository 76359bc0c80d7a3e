package io.understudy.gateway.server;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.gateway.metrics.GatewayMeter;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** Counts rejected requests and closed connections by reason. Thread-safe. */
final class LoadMetrics {

    /** Reasons to reject a request that may be retried. */
    enum Refusal {
        /** Too many requests are queued on the event loop. */
        OVERLOAD,
        /** Too many requests are in flight on the event loop. */
        LOOP,
        /** Too many requests are in flight on the connection. */
        CONNECTION,
        /** The client exceeds its rate. */
        RATE,
        /** The connection's requests hold too much memory. */
        BYTES,
        /** All requests hold too much memory. */
        TOTAL_BYTES
    }

    /** Reasons to close a connection. */
    enum Closure {
        /** There are too many connections. */
        CONNECTIONS,
        /** The client sends abusive frames. */
        ABUSE,
        /** The client violates HTTP/2. */
        PROTOCOL,
        /** A request makes no progress, or nothing is read. */
        STALL,
        /** No request is in flight. */
        IDLE,
        /** No answer to a ping. */
        DEAD
    }

    private final Map<Refusal, Counter> refused = new EnumMap<>(Refusal.class);
    private final Map<Closure, Counter> closed = new EnumMap<>(Closure.class);
    private final Timer turns;

    LoadMetrics(MeterRegistry registry, Supplier<Number> inFlight, Supplier<Number> calls, Supplier<Number> heldBytes) {
        for (Refusal each : Refusal.values()) {
            refused.put(
                    each,
                    GatewayMeter.REQUESTS_REFUSED
                            .counter()
                            .tags("reason", tag(each))
                            .register(registry));
        }
        for (Closure each : Closure.values()) {
            closed.put(
                    each,
                    GatewayMeter.CONNECTIONS_CLOSED
                            .counter()
                            .tags("reason", tag(each))
                            .register(registry));
        }
        this.turns = GatewayMeter.LOOP_TURNS
                .timer()
                .serviceLevelObjectives(
                        Duration.ofMillis(5),
                        Duration.ofMillis(20),
                        Duration.ofMillis(50),
                        Duration.ofMillis(200),
                        Duration.ofSeconds(1))
                .register(registry);
        GatewayMeter.REQUESTS_INFLIGHT.gauge(inFlight).register(registry);
        GatewayMeter.CALLS.gauge(calls).register(registry);
        GatewayMeter.REQUESTS_HELD.gauge(heldBytes).register(registry);
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
