package io.understudy.gateway.forward;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.gateway.forward.HeldWrites.HeldCalls;
import io.understudy.gateway.metrics.GatewayMeter;
import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Metrics of forwarded calls. Thread-safe. */
public final class ForwardMetrics {

    private final MeterRegistry registry;
    private final AtomicInteger streams = new AtomicInteger();
    private final AtomicInteger watches = new AtomicInteger();
    private final HeldCalls held = new HeldCalls();
    private final Counter elsewhere;
    private final ConcurrentMap<Ending, Timer> calls = new ConcurrentHashMap<>();

    private record Ending(String method, String code) {}

    public ForwardMetrics(MeterRegistry registry) {
        this.registry = registry;
        this.elsewhere = GatewayMeter.FORWARD_ELSEWHERE.counter().register(registry);
        GatewayMeter.FORWARD_STREAMS
                .gauge(streams, AtomicInteger::get)
                .strongReference(true)
                .register(registry);
        GatewayMeter.FORWARD_WATCHES
                .gauge(watches, AtomicInteger::get)
                .strongReference(true)
                .register(registry);
        GatewayMeter.FORWARD_HELD
                .gauge(held, HeldCalls::count)
                .strongReference(true)
                .register(registry);
    }

    /** Unsent calls of all sources. */
    HeldCalls held() {
        return held;
    }

    /** Number of open streams. */
    int streams() {
        return streams.get();
    }

    /** Number of open forwarded watches. */
    int watches() {
        return watches.get();
    }

    void began(EtcdMethod method) {
        count(method, 1);
    }

    private void count(EtcdMethod method, int more) {
        if (!method.unary()) {
            streams.addAndGet(more);
        }
        if (method.fullName().equals(EtcdMethod.WATCH)) {
            watches.addAndGet(more);
        }
    }

    void ended(EtcdMethod method, String code, Duration took) {
        count(method, -1);
        calls.computeIfAbsent(new Ending(method.fullName(), code), ending -> GatewayMeter.FORWARD_CALLS
                        .timer()
                        .tags("method", ending.method(), "code", ending.code())
                        .register(registry))
                .record(took);
    }

    void elsewhere() {
        elsewhere.increment();
    }
}
