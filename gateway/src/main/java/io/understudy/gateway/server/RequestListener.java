package io.understudy.gateway.server;

import java.time.Duration;

/** Told of each answered request, on its event loop. */
@FunctionalInterface
public interface RequestListener {

    /**
     * A request was answered.
     *
     * @param method full name, or {@code unknown}
     * @param code gRPC's name of the status
     */
    void answered(String method, String code, Duration took);
}
