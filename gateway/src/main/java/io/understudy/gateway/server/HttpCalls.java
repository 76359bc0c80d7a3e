package io.understudy.gateway.server;

import io.understudy.gateway.caller.Session;
import io.vertx.core.http.HttpServerRequest;

/** What is answered over plain HTTP with more than a page. */
public interface HttpCalls {

    /** Whether requests to this path belong here. For any thread. */
    boolean serves(String path);

    /** Answers a request that came on the connection of {@code session}; on its event loop. */
    void handle(HttpServerRequest request, Session session);
}
