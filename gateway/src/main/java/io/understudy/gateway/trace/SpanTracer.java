package io.understudy.gateway.trace;

import io.netty.util.AsciiString;
import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.SpanKind;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapGetter;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Begins a span for each call of one method. */
final class SpanTracer implements CallTracer {

    private static final TextMapGetter<Carrier> HEADERS = new TextMapGetter<>() {
        @Override
        public Iterable<String> keys(Carrier carrier) {
            return List.of();
        }

        @Override
        public @Nullable String get(@Nullable Carrier carrier, String key) {
            CharSequence value = carrier == null ? null : carrier.header(AsciiString.of(key));
            return value == null ? null : value.toString();
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
        return new CallSpan(
                tracer.spanBuilder(name)
                        .setParent(W3CTraceContextPropagator.getInstance().extract(Context.root(), carrier, HEADERS))
                        .setSpanKind(SpanKind.SERVER)
                        .setAllAttributes(attributes)
                        .startSpan(),
                convention);
    }
}
