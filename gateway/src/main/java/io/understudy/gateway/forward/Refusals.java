package io.understudy.gateway.forward;

import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;

/** Statuses of calls that no member has answered, in etcd's words, since clients compare them. */
final class Refusals {

    private static final ServerCall.Listener<byte[]> OVER = new ServerCall.Listener<>() {};

    /**
     * Status of a call that was not sent before another source replaced its source. No other call ends by this object.
     */
    static final Status MOVED = status(ApiException.noLeader());

    private Refusals() {}

    /** Ends a call; returns a listener that ignores the client. */
    static ServerCall.Listener<byte[]> end(ServerCall<byte[], byte[]> client, ApiException why) {
        client.close(status(why), new Metadata());
        return OVER;
    }

    /** The connection broke after the request was sent; whether it was carried out is unknown. */
    static ApiException connectionLost() {
        return new ApiException(
                Status.Code.UNAVAILABLE, "etcdserver: request timed out, possibly due to connection lost");
    }

    /** The client's deadline has passed. */
    static ApiException deadlineExceeded() {
        return new ApiException(Status.Code.DEADLINE_EXCEEDED, "context deadline exceeded");
    }

    static Status status(ApiException refusal) {
        return refusal.code().toStatus().withDescription(refusal.text());
    }
}
