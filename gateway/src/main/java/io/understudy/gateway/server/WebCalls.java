package io.understudy.gateway.server;

import io.understudy.gateway.api.ApiException;

/** What is answered over plain HTTP with more than a page. */
public interface WebCalls extends WebHandler {

    /** Whether requests to this path belong here. For any thread. */
    boolean serve(String path);

    /** Whether the answer is a stream of messages. */
    boolean lasts(WebRequest request);

    /** Whether requests to this path are a stream, to be read while they arrive. */
    boolean streamsRequests(String path);

    /** The request is refused; its body may be missing. */
    void refuse(WebRequest request, ApiException why);

    /** The request's body is larger than {@code most} bytes; it is not there. */
    void refuseTooLarge(WebRequest request, long most);
}
