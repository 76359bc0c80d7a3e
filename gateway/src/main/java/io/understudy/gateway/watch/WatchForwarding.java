package io.understudy.gateway.watch;

import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamTaker;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedRequests;
import java.util.concurrent.Executor;

/** Opens watches at the source, under the identity of the caller. */
@FunctionalInterface
public interface WatchForwarding {

    /**
     * Opens a watch.
     *
     * @param loop the session's event loop, on which this is called
     */
    StreamedCall watch(Caller caller, Executor loop, StreamedRequests requests, StreamTaker taker);
}
