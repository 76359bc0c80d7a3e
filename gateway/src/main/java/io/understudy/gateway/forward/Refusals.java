package io.understudy.gateway.forward;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;

/** How calls end that no member has answered, in the words of etcd 3.5 and of its gRPC server: clients compare them. */
final class Refusals {

    private Refusals() {}

    /** The connection broke after the request was sent; whether it was carried out is unknown. */
    static ApiException connectionLost() {
        return new ApiException(
                Status.Code.UNAVAILABLE, "etcdserver: request timed out, possibly due to connection lost");
    }

    /** The client's deadline has passed. */
    static ApiException deadlineExceeded() {
        return new ApiException(Status.Code.DEADLINE_EXCEEDED, "context deadline exceeded");
    }

    /** etcd has no such method; {@code fullName} is what the client called, without the leading slash. */
    static ApiException unknown(String fullName) {
        int slash = fullName.lastIndexOf('/');
        if (slash < 0) {
            return unimplemented("malformed method name: \"/" + fullName + "\"");
        }
        String service = fullName.substring(0, slash);
        return unimplemented(
                EtcdMethod.isService(service)
                        ? "unknown method " + fullName.substring(slash + 1) + " for service " + service
                        : "unknown service " + service);
    }

    static Status status(ApiException refusal) {
        return refusal.code().toStatus().withDescription(refusal.text());
    }

    private static ApiException unimplemented(String text) {
        return new ApiException(Status.Code.UNIMPLEMENTED, text);
    }
}
