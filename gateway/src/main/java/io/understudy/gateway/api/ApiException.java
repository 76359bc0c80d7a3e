package io.understudy.gateway.api;

import io.grpc.Status;
import io.understudy.etcd.EtcdVersion;

/**
 * A request is refused. The message is what the client reads: etcd's own text where etcd has one, since clients compare
 * it. Carries no stack trace: it is an answer, not a fault.
 */
public final class ApiException extends Exception {

    private static final long serialVersionUID = 1L;

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

    /** An operation of a transaction that is no operation. */
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

    /** What a learner of that version answers to calls that it doesn't serve. */
    public static ApiException notSupportedForLearner(EtcdVersion version) {
        return version.learnerRejectsForGood()
                ? neverSupported()
                : new ApiException(Status.Code.UNAVAILABLE, NOT_SUPPORTED);
    }

    /** The same for good: after {@code UNAVAILABLE} clients give up the endpoint. */
    public static ApiException neverSupported() {
        return new ApiException(Status.Code.FAILED_PRECONDITION, NOT_SUPPORTED);
    }

    /** A value that etcd's schema doesn't have. */
    public static ApiException unknownValue(String field, int value) {
        return new ApiException(Status.Code.INVALID_ARGUMENT, "understudy: unknown value " + value + " of " + field);
    }

    public static ApiException noLeader() {
        return new ApiException(Status.Code.UNAVAILABLE, "etcdserver: no leader");
    }

    /** The source didn't answer in time. */
    public static ApiException timedOut() {
        return new ApiException(Status.Code.UNAVAILABLE, "etcdserver: request timed out");
    }

    /** Nobody waits for the answer any more. */
    public static ApiException cancelled() {
        return new ApiException(Status.Code.CANCELLED, "context canceled");
    }

    /** More than this member takes on at a time. */
    public static ApiException tooManyRequests() {
        return tooManyRequests("");
    }

    /** As {@link #tooManyRequests()}, by which clients know it; {@code which} says more of it. */
    public static ApiException tooManyRequests(String which) {
        return new ApiException(Status.Code.RESOURCE_EXHAUSTED, TOO_MANY + which);
    }

    /** Whether the same request may be welcome a moment later. */
    public boolean passes() {
        return code == Status.Code.RESOURCE_EXHAUSTED && text.startsWith(TOO_MANY);
    }

    /**
     * The first snapshot is not complete. Of etcd's errors this is the one that says that this member, not the cluster,
     * has yet to apply what it needs; being UNAVAILABLE, clients try another endpoint.
     */
    public static ApiException notReady() {
        return new ApiException(
                Status.Code.UNAVAILABLE, "etcdserver: request timed out, waiting for the applied index took too long");
    }

    /**
     * What needs a voter, of a gateway that reaches none and never will: so not {@code UNAVAILABLE}, upon which clients try
     * again, and never stop.
     */
    public static ApiException noVoters() {
        return new ApiException(
                Status.Code.FAILED_PRECONDITION,
                "understudy: not supported by a gateway with a Kafka source; use serializable reads or watches");
    }

    /** Nor can anybody be asked for other keys. */
    public static ApiException outsideOfRange() {
        return new ApiException(
                Status.Code.FAILED_PRECONDITION,
                "understudy: keys outside range.prefix are not available from a gateway with a Kafka source");
    }

    /** Nor for anything, while the replica takes more memory than it may. Another gateway may have more. */
    public static ApiException replicaDropped() {
        return new ApiException(
                Status.Code.UNAVAILABLE,
                "understudy: replica exceeds replica.maxBytes and was dropped; a Kafka source cannot serve reads");
    }

    /** Who comes without a name, where authentication is enabled. */
    public static ApiException userNameEmpty() {
        return new ApiException(Status.Code.INVALID_ARGUMENT, "etcdserver: user name is empty");
    }

    /** Who comes with a token that nobody has issued, or not lately. */
    public static ApiException invalidToken() {
        return new ApiException(Status.Code.UNAUTHENTICATED, "etcdserver: invalid auth token");
    }

    public static ApiException permissionDenied() {
        return new ApiException(Status.Code.PERMISSION_DENIED, "etcdserver: permission denied");
    }
}
