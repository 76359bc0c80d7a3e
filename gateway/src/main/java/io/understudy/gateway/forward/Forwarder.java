package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.understudy.etcd.EtcdCluster;
import io.understudy.gateway.caller.Caller;
import java.time.Duration;
import java.util.concurrent.Executor;

/** Passes calls on to the source. For any thread; a call belongs to its session's event loop. */
public final class Forwarder {

    private final EtcdCluster source;
    private final Duration patience;
    private final ForwardMetrics metrics;

    /** {@code patience} is for unary calls that come without a deadline. */
    public Forwarder(EtcdCluster source, Duration patience, ForwardMetrics metrics) {
        this.source = source;
        this.patience = patience;
        this.metrics = metrics;
    }

    /**
     * Passes on a call of one request, which has arrived.
     *
     * @param client gets the answer, and is always closed unless it cancels; called on {@code loop} only
     * @param loop the session's event loop
     * @return to be told, on {@code loop}, when the client cancels
     */
    public ServerCall.Listener<byte[]> one(
            EtcdMethod method,
            ServerCall<byte[], byte[]> client,
            Metadata headers,
            Caller caller,
            Executor loop,
            byte[] request) {
        ForwardedCall call =
                new ForwardedCall(method, client, headers, caller, loop, source, metrics, request, patience);
        call.start();
        return call;
    }

    /**
     * Passes on a call of a stream of requests, from its headers on.
     *
     * @param client is asked for messages, one at a time, gets the answers, and is always closed unless it cancels; called
     *     on {@code loop} only
     * @param loop the session's event loop
     * @return to be told, on {@code loop}, what the client does
     */
    public ServerCall.Listener<byte[]> stream(
            EtcdMethod method, ServerCall<byte[], byte[]> client, Metadata headers, Caller caller, Executor loop) {
        ForwardedCall call = new ForwardedCall(method, client, headers, caller, loop, source, metrics, null, patience);
        call.start();
        return call;
    }
}
