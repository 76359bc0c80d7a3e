package io.understudy.gateway.trace;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.understudy.gateway.metrics.GatewayMeter;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Exports spans in batches. Bounds the spans that wait for the collector, and counts all by outcome. Thread-safe.
 *
 * <p>Invariant O3: a collector that is down or slow delays no call and no close, and dropped spans are counted.
 */
final class BoundedSpans implements SpanProcessor {

    /** Maximum number of waiting spans: some 2 MB. */
    static final int MOST_WAITING = 2_048;

    private static final int BATCH = 512;
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final SpanProcessor batches;
    private final CollectorLog log;
    private final AtomicInteger waiting = new AtomicInteger();
    private final Counter exported;
    private final Counter failed;
    private final Counter dropped;

    /** @param deadline of a batch */
    BoundedSpans(SpanExporter collector, Duration deadline, MeterRegistry registry, CollectorLog log) {
        this.log = log;
        this.exported = counter("exported", registry);
        this.failed = counter("failed", registry);
        this.dropped = counter("dropped", registry);
        // Its queue is never full: this limits and counts before it.
        this.batches = BatchSpanProcessor.builder(new CountedExporter(collector))
                .setMaxQueueSize(MOST_WAITING)
                .setMaxExportBatchSize(BATCH)
                .setScheduleDelay(PAUSE)
                .setExporterTimeout(deadline)
                .setMeterProvider(MeterProvider.noop())
                .build();
    }

    private static Counter counter(String outcome, MeterRegistry registry) {
        return GatewayMeter.TRACING_SPANS.counter().tag("outcome", outcome).register(registry);
    }

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
        return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
        if (!span.getSpanContext().isSampled()) {
            return;
        }
        if (waiting.incrementAndGet() > MOST_WAITING) {
            waiting.decrementAndGet();
            dropped.increment();
        } else {
            batches.onEnd(span);
        }
    }

    @Override
    public boolean isEndRequired() {
        return true;
    }

    @Override
    public CompletableResultCode forceFlush() {
        return batches.forceFlush();
    }

    @Override
    public CompletableResultCode shutdown() {
        return batches.shutdown();
    }

    private final class CountedExporter implements SpanExporter {

        private final SpanExporter collector;

        CountedExporter(SpanExporter collector) {
            this.collector = collector;
        }

        @Override
        public CompletableResultCode export(Collection<SpanData> batch) {
            // The exporter clears the batch.
            int spans = batch.size();
            waiting.addAndGet(-spans);
            CompletableResultCode result = collector.export(batch);
            return result.whenComplete(() -> {
                if (result.isSuccess()) {
                    exported.increment(spans);
                    log.takes();
                } else {
                    failed.increment(spans);
                    log.refuses(result.getFailureThrowable());
                }
            });
        }

        @Override
        public CompletableResultCode flush() {
            return collector.flush();
        }

        @Override
        public CompletableResultCode shutdown() {
            return collector.shutdown();
        }
    }

    /** Logs when a collector begins to reject spans, and when it accepts them again. Thread-safe. */
    static final class CollectorLog {

        private static final Logger LOG = LoggerFactory.getLogger(CollectorLog.class);

        private final URI endpoint;
        private final AtomicBoolean refuses = new AtomicBoolean();

        CollectorLog(URI endpoint) {
            this.endpoint = endpoint;
        }

        void takes() {
            if (refuses.compareAndSet(true, false)) {
                LOG.atInfo().addKeyValue("endpoint", endpoint).log("span export recovered");
            }
        }

        void refuses(@Nullable Throwable why) {
            if (refuses.compareAndSet(false, true)) {
                LOG.atWarn()
                        .addKeyValue("endpoint", endpoint)
                        .addKeyValue("cause", text(why))
                        .log("span export failed; dropping spans");
            }
        }

        private static String text(@Nullable Throwable why) {
            if (why == null || why.getCause() == null) {
                return "rejected by the collector";
            }
            Throwable root = why.getCause();
            while (root.getCause() != null) {
                root = root.getCause();
            }
            return root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage();
        }
    }
}
