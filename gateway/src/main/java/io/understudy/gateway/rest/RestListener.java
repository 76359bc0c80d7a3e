package io.understudy.gateway.rest;

import io.understudy.gateway.trace.CallTrace;
import io.understudy.gateway.trace.Carrier;
import java.time.Duration;

/** Told of each answered request, on its event loop. */
@FunctionalInterface
public interface RestListener {

    /**
     * A request was answered.
     *
     * @param route one of those in the OpenAPI document, {@code /dashboard} for the page, or {@code none}
     * @param status of HTTP
     */
    void answered(String route, int status, Duration took);

    /** One that is answered at once begins: who is told more of it than how it ended. */
    default CallTrace begins(String route, Carrier carrier) {
        return CallTrace.NONE;
    }
}
