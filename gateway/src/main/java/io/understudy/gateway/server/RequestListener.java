package io.understudy.gateway.server;

import io.understudy.gateway.trace.CallTrace;
import io.understudy.gateway.trace.CallTrace.Carrier;

/** Receives the outcomes of requests. */
@FunctionalInterface
public interface RequestListener {

    /**
     * Returns the listener of a method's requests; called once for each method.
     *
     * @param method full name, or {@code unknown} for all that are not served
     */
    Outcomes of(String method);

    /** Notified of each request of one method, on any event loop. */
    @FunctionalInterface
    interface Outcomes {
        /** {@code code} is gRPC's name of the answer's status. */
        void answered(String code, long tookNanos);

        /** Returns the trace of a unary request that begins. */
        default CallTrace begins(Carrier carrier) {
            return CallTrace.NONE;
        }
    }
}
