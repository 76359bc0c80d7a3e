package io.understudy.gateway;

import io.understudy.gateway.server.RequestListener.Outcomes;
import io.understudy.gateway.trace.CallTrace;
import io.understudy.gateway.trace.CallTracer;
import io.understudy.gateway.trace.Carrier;

/** What is told of one method's requests, to who measures and to who traces. For any thread. */
record TracedRequests(Outcomes measured, CallTracer tracer) implements Outcomes {

    /** As {@code measured} is, if nothing is traced. */
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
