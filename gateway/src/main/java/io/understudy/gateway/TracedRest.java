package io.understudy.gateway;

import io.understudy.gateway.rest.RestListener;
import io.understudy.gateway.trace.CallTrace;
import io.understudy.gateway.trace.CallTracer;
import io.understudy.gateway.trace.Carrier;
import io.understudy.gateway.trace.Tracing;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Reports REST requests to the metrics and, for reads of keys, to the tracers. Thread-safe. */
record TracedRest(RestListener measured, Map<String, CallTracer> tracers) implements RestListener {

    private static final Set<String> READS = Set.of("/v1/kv", "/v1/kv/{key}");

    /** Returns {@code measured} if nothing is traced. */
    static RestListener of(RestListener measured, Tracing tracing) {
        return tracing == Tracing.OFF
                ? measured
                : new TracedRest(
                        measured, READS.stream().collect(Collectors.toMap(Function.identity(), tracing::ofRoute)));
    }

    @Override
    public void answered(String route, int status, Duration took) {
        measured.answered(route, status, took);
    }

    @Override
    public CallTrace begins(String route, Carrier carrier) {
        return tracers.getOrDefault(route, CallTracer.NONE).begin(carrier);
    }
}
