package io.understudy.gateway.hub;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.ToIntFunction;

/** What watchers cost, and what they get. For any thread. */
final class HubMetrics {

    private final Counter delivered;
    private final Counter slow;
    private final Counter compacted;
    private final Counter history;
    private final Timer delivery;

    HubMetrics(MeterRegistry registry, Supplier<LoopHub[]> loops) {
        this.delivered = Counter.builder("understudy.gateway.watch.events")
                .description("events handed to watchers")
                .register(registry);
        this.slow = Counter.builder("understudy.gateway.watch.slow")
                .description("times that a watcher fell behind, its client not having taken what it had")
                .register(registry);
        this.compacted = Counter.builder("understudy.gateway.watch.compacted")
                .description("watchers that were ended, the source having compacted what would have come next")
                .register(registry);
        this.history = Counter.builder("understudy.gateway.watch.history.commits")
                .description("commits read from the source's history")
                .register(registry);
        this.delivery = Timer.builder("understudy.gateway.watch.delivery")
                .description("from a commit's application to its being written for live watchers, by event loop")
                .publishPercentileHistogram()
                .register(registry);
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

    void told(long nanos) {
        delivery.record(nanos, TimeUnit.NANOSECONDS);
    }

    private static void gauge(
            MeterRegistry registry, Supplier<LoopHub[]> loops, String state, ToIntFunction<LoopHub.Counts> count) {
        Gauge.builder("understudy.gateway.watchers", () -> {
                    int sum = 0;
                    for (LoopHub loop : loops.get()) {
                        sum += count.applyAsInt(loop.counts());
                    }
                    return sum;
                })
                .tag("state", state)
                .description("watchers, by where they stand: live, catching up, waiting for their client, not begun")
                .register(registry);
    }
}
