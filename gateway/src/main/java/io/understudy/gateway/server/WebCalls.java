package io.understudy.gateway.server;

import io.understudy.gateway.api.ApiException;

/** Calls over plain HTTP, beyond pages. */
public interface WebCalls extends WebHandler {

    /** Whether this serves requests to the path. Thread-safe. */
    boolean serve(String path);

    /** Whether it decodes paths itself, and reports broken escapes. */
    default boolean rawPaths() {
        return false;
    }

    /** Whether the answer is a stream of messages. */
    boolean lasts(WebRequest request);

    /** Whether requests to this path are streams, to be read as they arrive. */
    boolean streamsRequests(String path);

    /** Rejects a request; its body may be missing. */
    void refuse(WebRequest request, ApiException why);

    /** Rejects a request with a body of more than {@code most} bytes, which is missing. */
    void refuseTooLarge(WebRequest request, long most);
}
