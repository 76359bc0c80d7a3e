package io.understudy.gateway.server;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.channel.EventLoop;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Requests in flight by event loop, and request rates by client. Thread-safe. */
public final class Loads {

    private final ConcurrentMap<EventLoop, LoopLoad> loops = new ConcurrentHashMap<>();
    private final LoadLimits limits;
    private final LoadMetrics metrics;
    /** Clients of open connections, so that it is bounded as they are. */
    private final Cache<String, RateBucket> clients =
            Caffeine.newBuilder().weakValues().build();

    public Loads(LoadLimits limits, MeterRegistry registry) {
        this.limits = limits;
        this.metrics = new LoadMetrics(registry, this::inFlight, this::calls);
    }

    /** Returns the load of one loop, for its connections. */
    public LoopLoad of(EventLoop loop) {
        return loops.computeIfAbsent(loop, absent -> new LoopLoad(absent, limits, this, metrics));
    }

    private int inFlight() {
        return sum(LoopLoad::inFlight);
    }

    private int calls() {
        return sum(LoopLoad::calls);
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
}
