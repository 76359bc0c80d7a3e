package io.understudy.gateway.server;

/** Answers requests of plain HTTP. */
@FunctionalInterface
public interface WebHandler {

    /**
     * Answers, now or later. Runs on the event loop of the request's connection and must not block it. What it throws
     * is answered with status 500.
     */
    void handle(WebRequest request);
}
