package io.understudy.gateway.trace;

import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import java.util.Collection;

/** Notes what becomes of each batch. */
final class WatchedExporter implements SpanExporter {

    private final SpanExporter collector;
    private final SpanCounts counts;

    WatchedExporter(SpanExporter collector, SpanCounts counts) {
        this.collector = collector;
        this.counts = counts;
    }

    @Override
    public CompletableResultCode export(Collection<SpanData> batch) {
        // Its elements are taken away once it is sent.
        int spans = batch.size();
        counts.given(spans);
        CompletableResultCode result = collector.export(batch);
        return result.whenComplete(() -> {
            if (result.isSuccess()) {
                counts.taken(spans);
            } else {
                counts.refused(spans, result.getFailureThrowable());
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
