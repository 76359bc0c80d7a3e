package io.understudy.gateway;

import io.understudy.gateway.server.RequestListener.Outcomes;
import io.understudy.gateway.trace.CallTrace;
import io.understudy.gateway.trace.CallTrace.CallTracer;
import io.understudy.gateway.trace.CallTrace.Carrier;

/** Reports one method's requests to the metrics and the tracer. Thread-safe. */
record TracedRequests(Outcomes measured, CallTracer tracer) implements Outcomes {

    /** Returns {@code measured} if nothing is traced. */
    static Outcomes of(Outcomes measured, CallTracer tracer) {
        return tracer == CallTracer.NONE ? measured : new TracedRequests(measured, tracer);
    }

    @Override
    public void answered(String code, long tookNanos) {
        measured.answered(code, tookNanos);
    }

    @Override
    public CallTrace begins(Carrier carrier) {
        return tracer.begin(carrier);
    }
}
