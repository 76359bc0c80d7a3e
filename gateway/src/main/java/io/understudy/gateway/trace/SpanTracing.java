package io.understudy.gateway.trace;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.util.AsciiString;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.understudy.tls.TlsContext;
import java.net.URI;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Records sampled calls as spans, and exports them to a collector on its own threads. */
final class SpanTracing implements Tracing {

    /** Maximum number of waiting spans: some 2 MB. */
    static final int MOST_WAITING = 2_048;

    private static final int BATCH = 512;
    private static final Duration PAUSE = Duration.ofSeconds(1);

    /** Deadline of a batch. Batches are not retried, since newer spans are as useful. */
    private static final Duration DEADLINE = Duration.ofSeconds(5);

    /** Attribute of OpenTelemetry's resource conventions. */
    private static final AttributeKey<String> SERVICE = AttributeKey.stringKey("service.name");

    private static final AttributeKey<String> INSTANCE = AttributeKey.stringKey("service.instance.id");
    private static final AttributeKey<String> VERSION = AttributeKey.stringKey("service.version");

    private final SdkTracerProvider provider;
    private final Tracer tracer;
    private final Runnable closed;

    /** @param closed called after the last export */
    SpanTracing(SpanExporter collector, Sampler sampler, Resource resource, SpanCounts counts, Runnable closed) {
        this.closed = closed;
        // Never full: BoundedSpans limits and counts before it.
        BatchSpanProcessor batches = BatchSpanProcessor.builder(new WatchedExporter(collector, counts))
                .setMaxQueueSize(MOST_WAITING)
                .setMaxExportBatchSize(BATCH)
                .setScheduleDelay(PAUSE)
                .setExporterTimeout(DEADLINE)
                .setMeterProvider(MeterProvider.noop())
                .build();
        this.provider = SdkTracerProvider.builder()
                .setSampler(sampler)
                .setResource(Resource.getDefault().merge(resource))
                .addSpanProcessor(new BoundedSpans(batches, MOST_WAITING, counts))
                .build();
        this.tracer = provider.get("io.understudy.gateway");
    }

    static SpanTracing to(
            URI endpoint, TracingSettings settings, String instance, String version, MeterRegistry registry) {
        OtlpHttpSpanExporterBuilder collector = OtlpHttpSpanExporter.builder()
                .setEndpoint(endpoint.toString())
                .setConnectTimeout(DEADLINE)
                .setTimeout(DEADLINE)
                .setRetryPolicy(null)
                .setMeterProvider(MeterProvider.noop());
        Runnable closed = () -> {};
        if (settings.tls() != null) {
            TlsContext tls = TlsContext.of("tracing", settings.tls(), registry);
            collector.setSslContext(tls.platform(), tls.trust());
            closed = tls::close;
        }
        return new SpanTracing(
                collector.build(),
                Sampler.parentBased(Sampler.traceIdRatioBased(settings.ratio())),
                Resource.create(Attributes.of(SERVICE, settings.serviceName(), INSTANCE, instance, VERSION, version)),
                new SpanCounts(registry, new CollectorLog(endpoint)),
                closed);
    }

    @Override
    public CallTracer ofMethod(String fullName) {
        // Names of unknown methods come from clients.
        return fullName.indexOf('/') < 0
                ? CallTracer.NONE
                : new SpanTracer(tracer, Convention.GRPC, fullName, Convention.ofMethod(fullName));
    }

    @Override
    public CallTracer ofRoute(String route) {
        return new SpanTracer(tracer, Convention.HTTP, "GET " + route, Convention.ofRoute(route));
    }

    @Override
    public void close(Duration deadline) {
        var unused = provider.shutdown().join(deadline.toMillis(), TimeUnit.MILLISECONDS);
        closed.run();
    }

    /** Counts the outcome of each batch. */
    private static final class WatchedExporter implements SpanExporter {

        private final SpanExporter collector;
        private final SpanCounts counts;

        WatchedExporter(SpanExporter collector, SpanCounts counts) {
            this.collector = collector;
            this.counts = counts;
        }

        @Override
        public CompletableResultCode export(Collection<SpanData> batch) {
            // The exporter clears the batch.
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

    /** Begins a span for each call of one method. */
    private static final class SpanTracer implements CallTracer {

        /** Longest {@code tracestate} to read, by W3C's minimum; the library's time grows with its square. */
        private static final int MOST_CHARACTERS = 512;

        private static final TextMapGetter<Carrier> HEADERS = new TextMapGetter<>() {
            @Override
            public Iterable<String> keys(Carrier carrier) {
                return List.of();
            }

            @Override
            public @Nullable String get(@Nullable Carrier carrier, String key) {
                CharSequence value = carrier == null ? null : carrier.header(AsciiString.of(key));
                return value == null || value.length() > MOST_CHARACTERS ? null : value.toString();
            }
        };

        private final Tracer tracer;
        private final Convention convention;
        private final String name;
        private final Attributes attributes;

        SpanTracer(Tracer tracer, Convention convention, String name, Attributes attributes) {
            this.tracer = tracer;
            this.convention = convention;
            this.name = name;
            this.attributes = attributes;
        }

        @Override
        public CallTrace begin(Carrier carrier) {
            Context caller = W3CTraceContextPropagator.getInstance().extract(Context.root(), carrier, HEADERS);
            Span span = tracer.spanBuilder(name)
                    .setParent(caller)
                    .setSpanKind(SpanKind.SERVER)
                    .setAllAttributes(attributes)
                    .startSpan();
            return new CallSpan(
                    span, convention, Span.fromContext(caller).getSpanContext().isValid());
        }
    }
}
