package io.understudy.gateway.trace;

import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;

/**
 * Creates the traces of calls. Thread-safe.
 *
 * <p>Invariant O1: without a collector nothing is traced, no class of OpenTelemetry is loaded, and a call allocates
 * nothing for tracing.
 */
public interface Tracing {

    /** Traces nothing: no class of OpenTelemetry's is as much as loaded. */
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
     * @param version what runs
     * @throws io.understudy.tls.TlsFileException if files that the settings name can't be used
     */
    static Tracing of(TracingSettings settings, String instance, String version, MeterRegistry registry) {
        return settings.endpoint() == null
                ? OFF
                : SpanTracing.to(settings.endpoint(), settings, instance, version, registry);
    }

    /** Of a method of gRPC, such as {@code etcdserverpb.KV/Range}; its status codes are gRPC's. What is no such name isn't traced. */
    CallTracer ofMethod(String fullName);

    /** Of what is got by HTTP at a route, such as <code>/v1/kv/{key}</code>; its status codes are HTTP's. */
    CallTracer ofRoute(String route);

    /** Hands over what there is, for as long as that, and traces nothing from then on. */
    void close(Duration deadline);
}
