package io.understudy.etcd;

/**
 * etcd's errors that callers distinguish. The texts are the contract: the codes differ between releases (a learner
 * rejects with Unavailable in 3.4 and 3.5, with FailedPrecondition from 3.6), and etcd's own client compares texts too.
 */
public enum EtcdError {
    COMPACTED(Remedy.CALLERS_FAULT, "etcdserver: mvcc: required revision has been compacted"),
    FUTURE_REVISION(Remedy.ELSEWHERE, "etcdserver: mvcc: required revision is a future revision"),
    NO_SPACE(Remedy.LATER, "etcdserver: mvcc: database space exceeded"),
    LEARNER_NOT_SUPPORTED(Remedy.ELSEWHERE, "etcdserver: rpc not supported for learner"),
    /** The member has just started, and does not know the cluster version yet. */
    NOT_CAPABLE(Remedy.ELSEWHERE, "etcdserver: not capable"),
    NO_LEADER(Remedy.ELSEWHERE, "etcdserver: no leader"),
    /** The proposal may still be committed by the next leader. */
    LEADER_CHANGED(Remedy.OUTCOME_UNKNOWN, "etcdserver: leader changed"),
    /** Server timeout: the proposal may still be committed. */
    TIMEOUT(Remedy.OUTCOME_UNKNOWN, "etcdserver: request timed out"),
    TIMEOUT_LEADER_FAILED(
            Remedy.OUTCOME_UNKNOWN, "etcdserver: request timed out, possibly due to previous leader failure"),
    TIMEOUT_CONNECTION_LOST(Remedy.OUTCOME_UNKNOWN, "etcdserver: request timed out, possibly due to connection lost"),
    TIMEOUT_NOT_APPLIED(
            Remedy.OUTCOME_UNKNOWN, "etcdserver: request timed out, waiting for the applied index took too long"),
    STOPPED(Remedy.OUTCOME_UNKNOWN, "etcdserver: server stopped"),
    UNHEALTHY_CLUSTER(Remedy.LATER, "etcdserver: unhealthy cluster"),
    TOO_MANY_REQUESTS(Remedy.LATER, "etcdserver: too many requests"),
    REQUEST_TOO_LARGE(Remedy.CALLERS_FAULT, "etcdserver: request is too large"),
    TOO_MANY_OPERATIONS(Remedy.CALLERS_FAULT, "etcdserver: too many operations in txn request"),
    DUPLICATE_KEY(Remedy.CALLERS_FAULT, "etcdserver: duplicate key given in txn request"),
    LEASE_NOT_FOUND(Remedy.CALLERS_FAULT, "etcdserver: requested lease not found"),
    LEASE_EXISTS(Remedy.CALLERS_FAULT, "etcdserver: lease already exists"),
    PERMISSION_DENIED(Remedy.FATAL, "etcdserver: permission denied"),
    /** The member has no such token, or not yet. The next call uses another. */
    INVALID_TOKEN(Remedy.LATER, "etcdserver: invalid auth token"),
    /** Users or roles have changed since the token was made. */
    OLD_AUTH_REVISION(Remedy.LATER, "etcdserver: revision of auth store is old"),
    LOGIN_FAILED(Remedy.FATAL, "etcdserver: authentication failed, invalid user ID or password"),
    AUTH_NOT_ENABLED(Remedy.FATAL, "etcdserver: authentication is not enabled"),
    USER_EXISTS(Remedy.CALLERS_FAULT, "etcdserver: user name already exists"),
    USER_NOT_FOUND(Remedy.CALLERS_FAULT, "etcdserver: user name not found"),
    ROLE_EXISTS(Remedy.CALLERS_FAULT, "etcdserver: role name already exists"),
    ROLE_NOT_FOUND(Remedy.CALLERS_FAULT, "etcdserver: role name not found"),
    ROLE_NOT_GRANTED(Remedy.CALLERS_FAULT, "etcdserver: role is not granted to the user"),
    PERMISSION_NOT_GRANTED(Remedy.CALLERS_FAULT, "etcdserver: permission is not granted to the role"),
    USER_EMPTY(Remedy.FATAL, "etcdserver: user name is empty"),
    CORRUPT(Remedy.FATAL, "etcdserver: corrupt cluster"),
    /** None of the above. */
    OTHER(Remedy.FATAL, "");

    private final Remedy remedy;
    private final String message;

    EtcdError(Remedy remedy, String message) {
        this.remedy = remedy;
        this.message = message;
    }

    /** The remedy, for a write. */
    Remedy remedy() {
        return remedy;
    }

    /** The text by which servers report it; empty for {@link #OTHER}. */
    public String message() {
        return message;
    }
}
