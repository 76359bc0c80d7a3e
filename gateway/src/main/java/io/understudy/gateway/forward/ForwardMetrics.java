package io.understudy.gateway.forward;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What is measured of forwarded calls. For any thread.
 *
 * <ul>
 *   <li>{@code understudy.gateway.forward.calls}: time from a call's start to its end, by {@code method} and {@code code}
 *   <li>{@code understudy.gateway.forward.streams}: streams open now
 *   <li>{@code understudy.gateway.forward.elsewhere}: attempts that were repeated at another member, the request having
 *       not left the process, or been refused unseen
 * </ul>
 */
public final class ForwardMetrics {

    private static final String PREFIX = "understudy.gateway.forward.";

    private final MeterRegistry registry;
    private final AtomicInteger streams = new AtomicInteger();
    private final Counter elsewhere;
    private final ConcurrentMap<Ending, Timer> calls = new ConcurrentHashMap<>();

    private record Ending(String method, String code) {}

    public ForwardMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.elsewhere = Counter.builder(PREFIX + "elsewhere")
                .description("Attempts repeated at another member")
                .register(registry);
        Gauge.builder(PREFIX + "streams", streams, AtomicInteger::get)
                .description("Forwarded streams open now")
                .strongReference(true)
                .register(registry);
    }

    /** Streams open now. */
    int streams() {
        return streams.get();
    }

    void began(EtcdMethod method) {
        if (!method.unary()) {
            streams.incrementAndGet();
        }
    }

    void ended(EtcdMethod method, String code, Duration took) {
        if (!method.unary()) {
            streams.decrementAndGet();
        }
        calls.computeIfAbsent(new Ending(method.fullName(), code), ending -> Timer.builder(PREFIX + "calls")
                        .description("Time of a forwarded call")
                        .tags("method", ending.method(), "code", ending.code())
                        .register(registry))
                .record(took);
    }

    void elsewhere() {
        elsewhere.increment();
    }
}
