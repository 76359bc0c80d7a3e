package io.understudy.gateway.trace;

import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.ReadWriteSpan;
import io.opentelemetry.sdk.trace.ReadableSpan;
import io.opentelemetry.sdk.trace.SpanProcessor;

/**
 * Bounds the spans that wait for the collector; drops and counts excess spans. Thread-safe.
 *
 * <p>Invariant O3: a collector that is down or slow delays no call and no close, and dropped spans are counted.
 */
final class BoundedSpans implements SpanProcessor {

    private final SpanProcessor next;
    private final int most;
    private final SpanCounts counts;

    BoundedSpans(SpanProcessor next, int most, SpanCounts counts) {
        this.next = next;
        this.most = most;
        this.counts = counts;
    }

    @Override
    public void onStart(Context parent, ReadWriteSpan span) {}

    @Override
    public boolean isStartRequired() {
        return false;
    }

    @Override
    public void onEnd(ReadableSpan span) {
        if (span.getSpanContext().isSampled() && counts.enters(most)) {
            next.onEnd(span);
        }
    }

    @Override
    public boolean isEndRequired() {
        return true;
    }

    @Override
    public CompletableResultCode forceFlush() {
        return next.forceFlush();
    }

    @Override
    public CompletableResultCode shutdown() {
        return next.shutdown();
    }
}
