package io.understudy.gateway.api;

import io.grpc.Status;
import io.understudy.etcd.EtcdVersion;

/**
 * A request is refused. The message is what the client reads: etcd's own text where etcd has one, since clients compare
 * it. Carries no stack trace: it is an answer, not a fault.
 */
public final class ApiException extends Exception {

    private static final String NOT_SUPPORTED = "etcdserver: rpc not supported for learner";
    private static final String TOO_MANY = "etcdserver: too many requests";

    private final Status.Code code;
    private final String text;

    public ApiException(Status.Code code, String text) {
        super(text, null, false, false);
        this.code = code;
        this.text = text;
    }

    public Status.Code code() {
        return code;
    }

    public String text() {
        return text;
    }

    static ApiException emptyKey() {
        return new ApiException(Status.Code.INVALID_ARGUMENT, "etcdserver: key is not provided");
    }

    static ApiException invalidSortOption() {
        return new ApiException(Status.Code.INVALID_ARGUMENT, "etcdserver: invalid sort option");
    }

    /** A transaction operation without content. */
    static ApiException keyNotFound() {
        return new ApiException(Status.Code.INVALID_ARGUMENT, "etcdserver: key not found");
    }

    static ApiException tooManyOps() {
        return new ApiException(Status.Code.INVALID_ARGUMENT, "etcdserver: too many operations in txn request");
    }

    public static ApiException futureRevision() {
        return new ApiException(Status.Code.OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision");
    }

    public static ApiException compacted() {
        return new ApiException(Status.Code.OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted");
    }

    /** The error of a learner of that version for calls that it does not serve. */
    public static ApiException notSupportedForLearner(EtcdVersion version) {
        return version.learnerRejectsForGood()
                ? neverSupported()
                : new ApiException(Status.Code.UNAVAILABLE, NOT_SUPPORTED);
    }

    /** The permanent form: after {@code UNAVAILABLE} clients drop the endpoint. */
    public static ApiException neverSupported() {
        return new ApiException(Status.Code.FAILED_PRECONDITION, NOT_SUPPORTED);
    }

    /** An enum value outside of etcd's schema. */
    public static ApiException unknownValue(String field, int value) {
        return new ApiException(Status.Code.INVALID_ARGUMENT, "understudy: unknown value " + value + " of " + field);
    }

    public static ApiException noLeader() {
        return new ApiException(Status.Code.UNAVAILABLE, "etcdserver: no leader");
    }

    /** The gateway closes; clients retry elsewhere. */
    public static ApiException stopped() {
        return new ApiException(Status.Code.UNAVAILABLE, "etcdserver: server stopped");
    }

    /** The source has not answered in time. */
    public static ApiException timedOut() {
        return new ApiException(Status.Code.UNAVAILABLE, "etcdserver: request timed out");
    }

    /** The client has disconnected. */
    public static ApiException cancelled() {
        return new ApiException(Status.Code.CANCELLED, "context canceled");
    }

    /** The request exceeds the capacity of this member. */
    public static ApiException tooManyRequests() {
        return tooManyRequests("");
    }

    /** As {@link #tooManyRequests()}, with the limit in the text. */
    public static ApiException tooManyRequests(String which) {
        return new ApiException(Status.Code.RESOURCE_EXHAUSTED, TOO_MANY + which);
    }

    /** Whether a retry may succeed soon. */
    public boolean passes() {
        return code == Status.Code.RESOURCE_EXHAUSTED && text.startsWith(TOO_MANY);
    }

    /**
     * The first snapshot is not complete. This etcd error concerns the member, not the cluster; since it is {@code
     * UNAVAILABLE}, clients try another endpoint.
     */
    public static ApiException notReady() {
        return new ApiException(
                Status.Code.UNAVAILABLE, "etcdserver: request timed out, waiting for the applied index took too long");
    }

    /**
     * A request that needs a voting member, at a gateway that never reaches one. Not {@code UNAVAILABLE}, which clients
     * retry forever.
     */
    public static ApiException noVoters() {
        return new ApiException(
                Status.Code.FAILED_PRECONDITION,
                "understudy: not supported by a gateway with a Kafka source; use serializable reads or watches");
    }

    /** Keys outside of the replica's range, without a source to read them from. */
    public static ApiException outsideOfRange() {
        return new ApiException(
                Status.Code.FAILED_PRECONDITION,
                "understudy: keys outside range.prefix are not available from a gateway with a Kafka source");
    }

    /** The replica exceeds its memory limit. Another gateway may have more. */
    public static ApiException replicaDropped() {
        return new ApiException(
                Status.Code.UNAVAILABLE,
                "understudy: replica exceeds replica.maxBytes and was dropped; a Kafka source cannot serve reads");
    }

    /** A request without a user, while authentication is enabled. */
    public static ApiException userNameEmpty() {
        return new ApiException(Status.Code.INVALID_ARGUMENT, "etcdserver: user name is empty");
    }

    /** An unknown or expired token. */
    public static ApiException invalidToken() {
        return new ApiException(Status.Code.UNAUTHENTICATED, "etcdserver: invalid auth token");
    }

    public static ApiException permissionDenied() {
        return new ApiException(Status.Code.PERMISSION_DENIED, "etcdserver: permission denied");
    }
}
