package io.understudy.gateway.forward;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;

/** What is not served, in the words of etcd 3.5 and of its gRPC server: clients compare them. */
final class Refusals {

    private Refusals() {}

    /** A learner's answer to all but the simplest reads. 3.6 changed the code to FAILED_PRECONDITION. */
    static ApiException notForLearner() {
        return new ApiException(Status.Code.UNAVAILABLE, "etcdserver: rpc not supported for learner");
    }

    /** No voter could be asked; nothing has happened. */
    static Status noLeader() {
        return Status.UNAVAILABLE.withDescription("etcdserver: no leader");
    }

    /** The gateway's own patience has ended; whether the request was carried out is unknown. */
    static Status timedOut() {
        return Status.UNAVAILABLE.withDescription("etcdserver: request timed out");
    }

    /** The connection broke after the request was sent; whether it was carried out is unknown. */
    static Status connectionLost() {
        return Status.UNAVAILABLE.withDescription("etcdserver: request timed out, possibly due to connection lost");
    }

    /** The client's deadline has passed. */
    static Status deadlineExceeded() {
        return Status.DEADLINE_EXCEEDED.withDescription("context deadline exceeded");
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

    private static ApiException unimplemented(String text) {
        return new ApiException(Status.Code.UNIMPLEMENTED, text);
    }
}
