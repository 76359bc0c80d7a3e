package io.understudy.gateway.trace;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.gateway.metrics.GatewayMeter;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Counts spans by outcome. Thread-safe. */
final class SpanCounts {

    private final AtomicInteger waiting = new AtomicInteger();
    private final CollectorLog log;
    private final Counter exported;
    private final Counter failed;
    private final Counter dropped;

    SpanCounts(MeterRegistry registry, CollectorLog log) {
        this.log = log;
        this.exported = counter("exported", registry);
        this.failed = counter("failed", registry);
        this.dropped = counter("dropped", registry);
    }

    /** Admits an ended span to the queue; returns false if {@code most} are waiting. */
    boolean enters(int most) {
        if (waiting.incrementAndGet() > most) {
            waiting.decrementAndGet();
            dropped.increment();
            return false;
        }
        return true;
    }

    /** The spans leave the queue for the collector. */
    void given(int spans) {
        waiting.addAndGet(-spans);
    }

    void taken(int spans) {
        exported.increment(spans);
        log.takes();
    }

    void refused(int spans, @Nullable Throwable why) {
        failed.increment(spans);
        log.refuses(why);
    }

    private static Counter counter(String outcome, MeterRegistry registry) {
        return GatewayMeter.TRACING_SPANS.counter().tag("outcome", outcome).register(registry);
    }
}
