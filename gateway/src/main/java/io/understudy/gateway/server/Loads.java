package io.understudy.gateway.server;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.netty.channel.EventLoop;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.gateway.server.LoopLoad.RateBucket;
import io.understudy.gateway.server.ServerLimits.LoadLimits;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Requests in flight by event loop, and request rates by client. Thread-safe. */
public final class Loads {

    /** Share of the heap that messages and bodies of requests may hold; a request is held encoded and decoded. */
    private static final int HEAP_SHARE = 8;

    /** Number of connections that can use the whole of it. */
    private static final int CONNECTIONS = 4;

    /** Part of the limit that event loops may use without a check of the total. */
    private static final int UNCHECKED = 8;

    private final ConcurrentMap<EventLoop, LoopLoad> loops = new ConcurrentHashMap<>();
    private final LoadLimits limits;
    private final LoadMetrics metrics;
    private final long maxHeldBytes;
    /** Clients of open connections, so that it is bounded as they are. */
    private final Cache<String, RateBucket> clients =
            Caffeine.newBuilder().weakValues().build();

    public Loads(LoadLimits limits, MeterRegistry registry) {
        this(limits, Runtime.getRuntime().maxMemory() / HEAP_SHARE, registry);
    }

    /** @param maxHeldBytes of messages and bodies; a single request may have more */
    Loads(LoadLimits limits, long maxHeldBytes, MeterRegistry registry) {
        this.limits = limits;
        this.maxHeldBytes = maxHeldBytes;
        this.metrics = new LoadMetrics(registry, this::inFlight, this::calls, this::heldBytes);
    }

    /** Returns the load of one loop, for its connections. */
    LoopLoad of(EventLoop loop) {
        return loops.computeIfAbsent(loop, absent -> new LoopLoad(absent, limits, this, metrics));
    }

    private int inFlight() {
        return sum(LoopLoad::inFlight);
    }

    private int calls() {
        return sum(LoopLoad::calls);
    }

    /** Whether a loop that holds {@code ofLoop} bytes of requests may hold {@code more}. */
    boolean mayHold(long ofLoop, int more) {
        if (ofLoop + more <= maxHeldBytes / UNCHECKED / loops.size()) {
            return true;
        }
        long all = heldBytes();
        return all == 0 || all + more <= maxHeldBytes;
    }

    long maxBytesPerConnection() {
        return maxHeldBytes / CONNECTIONS;
    }

    private long heldBytes() {
        long sum = 0;
        for (LoopLoad loop : loops.values()) {
            sum += loop.heldBytes();
        }
        return sum;
    }

    private int sum(ToIntFunction<LoopLoad> count) {
        return loops.values().stream().mapToInt(count).sum();
    }

    LoadMetrics metrics() {
        return metrics;
    }

    /** Returns the rate limit of a client; null for none. The caller holds it while the client is connected. */
    @Nullable RateBucket rateOf(String client) {
        Integer rate = limits.maxRate();
        return rate == null ? null : clients.get(client, absent -> new RateBucket(rate, System.nanoTime()));
    }

    /** Counts rejected requests and closed connections by reason. Thread-safe. */
    static final class LoadMetrics {

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

        LoadMetrics(
                MeterRegistry registry, Supplier<Number> inFlight, Supplier<Number> calls, Supplier<Number> heldBytes) {
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
}
