package io.understudy.gateway.trace;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.gateway.trace.CallTrace.CallTracer;
import java.time.Duration;

/**
 * Creates the traces of calls. Thread-safe.
 *
 * <p>Invariant O1: without a collector nothing is traced, no class of OpenTelemetry is loaded, and a call allocates
 * nothing for tracing.
 */
public interface Tracing {

    /** Traces nothing, and loads no class of OpenTelemetry. */
    Tracing OFF = new Tracing() {
        @Override
        public CallTracer ofMethod(String fullName) {
            return CallTracer.NONE;
        }

        @Override
        public CallTracer ofRoute(String route) {
            return CallTracer.NONE;
        }

        @Override
        public void close(Duration deadline) {}
    };

    /**
     * Returns tracing by the settings; {@link #OFF} without a collector. Doesn't block.
     *
     * @param instance which of the processes with the service's name this is
     * @param version of the program
     * @throws io.understudy.tls.TlsFileException if files that the settings name can't be used
     */
    static Tracing of(TracingSettings settings, String instance, String version, MeterRegistry registry) {
        return settings.endpoint() == null
                ? OFF
                : SpanTracing.to(settings.endpoint(), settings, instance, version, registry);
    }

    /** Returns the tracer of a gRPC method, such as {@code etcdserverpb.KV/Range}; other names aren't traced. */
    CallTracer ofMethod(String fullName);

    /** Returns the tracer of GET requests to a route, such as <code>/v1/kv/{key}</code>. */
    CallTracer ofRoute(String route);

    /** Exports the remaining spans within {@code deadline}, and stops tracing. */
    void close(Duration deadline);
}
