package io.understudy.gateway.trace;

import io.grpc.Metadata;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.util.AsciiString;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.metrics.MeterProvider;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.trace.BoundedSpans.CollectorLog;
import io.understudy.gateway.trace.CallTrace.CallTracer;
import io.understudy.gateway.trace.CallTrace.Carrier;
import io.understudy.tls.TlsContext;
import java.net.URI;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Records sampled calls as spans, and exports them to a collector on its own threads. */
final class SpanTracing implements Tracing {

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
    SpanTracing(
            SpanExporter collector,
            Sampler sampler,
            Resource resource,
            MeterRegistry registry,
            CollectorLog log,
            Runnable closed) {
        this.closed = closed;
        this.provider = SdkTracerProvider.builder()
                .setSampler(sampler)
                .setResource(Resource.getDefault().merge(resource))
                .addSpanProcessor(new BoundedSpans(collector, DEADLINE, registry, log))
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
                registry,
                new CollectorLog(endpoint),
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

    /** Begins a span for each call of one method. */
    private record SpanTracer(Tracer tracer, Convention convention, String name, Attributes attributes)
            implements CallTracer {

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

    /**
     * A call as a span, which is empty if it isn't sampled.
     *
     * <p>Invariant O2: a sampled call is one child span of its caller's, on any protocol, and the parent of its forwarded
     * call; no span contains a key, value or token.
     *
     * @param decided whether the caller made the sampling decision
     */
    private record CallSpan(Span span, Convention convention, boolean decided) implements CallTrace {

        private static final AttributeKey<String> CONSISTENCY = AttributeKey.stringKey("understudy.consistency");
        private static final AttributeKey<String> ORIGIN = AttributeKey.stringKey("understudy.origin");
        private static final AttributeKey<Long> REVISION = AttributeKey.longKey("understudy.revision");
        private static final AttributeKey<Long> STALENESS = AttributeKey.longKey("understudy.staleness_ms");

        private static final TextMapSetter<Metadata> METADATA = (metadata, name, value) -> {
            if (metadata != null) {
                Metadata.Key<String> key = Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
                metadata.discardAll(key);
                metadata.put(key, value);
            }
        };

        @Override
        public void answered(Answer<?> answer) {
            if (span.isRecording()) {
                span.setAttribute(CONSISTENCY, answer.provenance().consistency().word());
                span.setAttribute(ORIGIN, answer.provenance().origin().word());
                span.setAttribute(REVISION, answer.revision());
                Duration staleness = answer.staleness();
                if (staleness != null) {
                    span.setAttribute(STALENESS, staleness.toMillis());
                }
            }
        }

        /** Omits a negative decision of this gateway: etcd would take it for the caller's. */
        @Override
        public void passOn(Metadata metadata) {
            if (!decided && !span.getSpanContext().isSampled()) {
                return;
            }
            W3CTraceContextPropagator.getInstance().inject(Context.root().with(span), metadata, METADATA);
        }

        @Override
        public void end(int status) {
            if (span.isRecording()) {
                span.setAttribute(convention.status(), (long) status);
                if (convention.isFault(status)) {
                    span.setStatus(StatusCode.ERROR);
                }
            }
            span.end();
        }
    }

    /** OpenTelemetry's semantic conventions of server spans, without attributes that contain keys, such as paths. */
    private enum Convention {
        GRPC("rpc.grpc.status_code") {
            @Override
            boolean isFault(int status) {
                return FAULTS.contains(Status.fromCodeValue(status).getCode());
            }
        },
        HTTP("http.response.status_code") {
            @Override
            boolean isFault(int status) {
                return status >= 500;
            }
        };

        /** gRPC's codes of server errors. */
        private static final Set<Status.Code> FAULTS = EnumSet.of(
                Status.Code.UNKNOWN,
                Status.Code.DEADLINE_EXCEEDED,
                Status.Code.UNIMPLEMENTED,
                Status.Code.INTERNAL,
                Status.Code.UNAVAILABLE,
                Status.Code.DATA_LOSS);

        @SuppressWarnings("ImmutableEnumChecker") // immutable, but not annotated so
        private final AttributeKey<Long> status;

        Convention(String status) {
            this.status = AttributeKey.longKey(status);
        }

        /** Returns the attribute of the status. */
        AttributeKey<Long> status() {
            return status;
        }

        /** Whether a status is a server error. */
        abstract boolean isFault(int status);

        static Attributes ofMethod(String fullName) {
            int slash = fullName.indexOf('/');
            return Attributes.of(
                    AttributeKey.stringKey("rpc.system"), "grpc",
                    AttributeKey.stringKey("rpc.service"), fullName.substring(0, slash),
                    AttributeKey.stringKey("rpc.method"), fullName.substring(slash + 1));
        }

        static Attributes ofRoute(String route) {
            return Attributes.of(
                    AttributeKey.stringKey("http.request.method"), "GET", AttributeKey.stringKey("http.route"), route);
        }
    }
}
