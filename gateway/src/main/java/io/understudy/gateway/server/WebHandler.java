package io.understudy.gateway.server;

import java.util.List;

/** Answers requests of plain HTTP. */
@FunctionalInterface
public interface WebHandler {

    /**
     * Answers, now or later. Runs on the event loop of the request's connection and must not block it. What it throws
     * is answered with status 500.
     */
    void handle(WebRequest request);

    /** Fields of every answer. By default, pages of any origin may call, as in etcd ({@code embed/serve.go}). */
    default List<Field> fields() {
        return WebRequest.CORS;
    }
}
