package io.understudy.gateway.server;

import io.understudy.gateway.trace.CallTrace;
import io.understudy.gateway.trace.Carrier;

/** Learns what became of requests. */
@FunctionalInterface
public interface RequestListener {

    /**
     * Who is told of a method's requests; asked once for each method.
     *
     * @param method full name, or {@code unknown} for all that are not served
     */
    Outcomes of(String method);

    /** Told of each request of one method, on any event loop. */
    @FunctionalInterface
    interface Outcomes {
        /** {@code code} is gRPC's name of the answer's status. */
        void answered(String code, long tookNanos);

        /** One with one answer begins: who is told more of it than how it ended. */
        default CallTrace begins(Carrier carrier) {
            return CallTrace.NONE;
        }
    }
}
