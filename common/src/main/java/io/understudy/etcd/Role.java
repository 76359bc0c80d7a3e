package io.understudy.etcd;

/** Kind of server at an endpoint. */
public enum Role {
    /** A member that counts for the quorum. */
    VOTER,
    /** A member that only follows; serves serializable reads and little else. */
    LEARNER,
    /** An understudy gateway, recognised by its version string. It is no member, and serves reads and watches. */
    GATEWAY
}
