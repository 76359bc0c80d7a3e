package io.understudy.gateway.json;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamTaker;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedRequests;
import io.understudy.gateway.server.WebRequest;

/** Every method with a stream of answers, called with messages in their encoding. */
@FunctionalInterface
public interface StreamCalls {

    /**
     * Begins a call; on the session's event loop, where it is answered too.
     *
     * @param fullName such as {@code etcdserverpb.Watch/Watch}
     * @param http that it came by
     * @param requests of the client, in their encoding; more may follow
     * @throws ApiException it is refused, and nothing has begun
     */
    StreamedCall begin(String fullName, Caller caller, WebRequest http, StreamedRequests requests, StreamTaker taker)
            throws ApiException;
}
