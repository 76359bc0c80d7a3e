package io.understudy.gateway.hub;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.understudy.gateway.metrics.GatewayMeter;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/** Metrics of watchers. Thread-safe. */
final class HubMetrics {

    private final Counter delivered;
    private final Counter slow;
    private final Counter compacted;
    private final Counter history;
    private final Timer delivery;

    HubMetrics(MeterRegistry registry, Supplier<LoopHub[]> loops) {
        this.delivered = GatewayMeter.WATCH_EVENTS.counter().register(registry);
        this.slow = GatewayMeter.WATCH_SLOW.counter().register(registry);
        this.compacted = GatewayMeter.WATCH_COMPACTED.counter().register(registry);
        this.history = GatewayMeter.WATCH_HISTORY_COMMITS.counter().register(registry);
        this.delivery =
                GatewayMeter.WATCH_DELIVERY.timer().publishPercentileHistogram().register(registry);
        gauge(registry, loops, "live", LoopHub.Counts::live);
        gauge(registry, loops, "behind", LoopHub.Counts::behind);
        gauge(registry, loops, "slow", LoopHub.Counts::parked);
        gauge(registry, loops, "future", LoopHub.Counts::coming);
    }

    void delivered(long events) {
        delivered.increment((double) events);
    }

    void slow() {
        slow.increment();
    }

    void compacted() {
        compacted.increment();
    }

    void readFromHistory() {
        history.increment();
    }

    void recordLatency(long nanos) {
        delivery.record(nanos, TimeUnit.NANOSECONDS);
    }

    private static void gauge(
            MeterRegistry registry, Supplier<LoopHub[]> loops, String state, ToIntFunction<LoopHub.Counts> count) {
        GatewayMeter.WATCHERS
                .gauge(() -> {
                    int sum = 0;
                    for (LoopHub loop : loops.get()) {
                        sum += count.applyAsInt(loop.counts());
                    }
                    return sum;
                })
                .tag("state", state)
                .register(registry);
    }
}
