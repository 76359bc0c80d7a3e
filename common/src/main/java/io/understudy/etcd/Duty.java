package io.understudy.etcd;

/** Purpose for which an endpoint is used. */
public enum Duty {
    /** Serializable reads, pinned to a revision. */
    SNAPSHOT,
    /** Watching the tail of commits. */
    WATCH,
    /** A revision confirmed by the quorum. */
    READ_INDEX,
    /** Anything that changes state: puts, deletes, transactions, leases. */
    WRITE
}
