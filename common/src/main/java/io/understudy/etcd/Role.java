package io.understudy.etcd;

/** Kind of server at an endpoint. */
public enum Role {
    /** A member that counts for the quorum. */
    VOTER,
    /** A member that only follows; serves serializable reads and little else. */
    LEARNER,
    /** An understudy gateway: no member at all, known by its version string; serves reads and watches. */
    GATEWAY
}
