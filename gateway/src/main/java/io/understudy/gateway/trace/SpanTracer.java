package io.understudy.gateway.trace;

import io.netty.util.AsciiString;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Begins a span for each call of one method. */
final class SpanTracer implements CallTracer {

    /** As much of a {@code tracestate} as has to be passed on; the library's time grows with the square of it. */
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
