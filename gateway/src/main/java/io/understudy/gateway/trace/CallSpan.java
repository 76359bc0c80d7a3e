package io.understudy.gateway.trace;

import io.grpc.Metadata;
import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.Context;
import io.opentelemetry.context.propagation.TextMapSetter;
import io.understudy.gateway.read.Answer;
import java.time.Duration;

/**
 * A call as a span, which is empty if it isn't sampled.
 *
 * <p>Invariant O2: a sampled call is one child span of its caller's, on any protocol, and the parent of its forwarded
 * call; no span contains a key, value or token.
 */
final class CallSpan implements CallTrace {

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

    private final Span span;
    private final Convention convention;
    private final boolean decided;

    /** @param decided whether the caller made the sampling decision */
    CallSpan(Span span, Convention convention, boolean decided) {
        this.span = span;
        this.convention = convention;
        this.decided = decided;
    }

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
