package io.understudy.gateway.rest;

import io.understudy.gateway.trace.CallTrace;
import io.understudy.gateway.trace.Carrier;
import java.time.Duration;

/** Receives each completed request, on its event loop. */
@FunctionalInterface
public interface RestListener {

    /**
     * A request was answered.
     *
     * @param route one of those in the OpenAPI document, {@code /dashboard} for the page, or {@code none}
     * @param status of HTTP
     */
    void answered(String route, int status, Duration took);

    /** A unary request begins; the returned trace receives more than its end. */
    default CallTrace begins(String route, Carrier carrier) {
        return CallTrace.NONE;
    }
}
