package io.understudy.mirror.lease;

/** Handling of the source's leases in the target. */
public enum LeaseMode {
    /** Copies keys without leases. Keys that a lease deletes at the source are deleted in the target. */
    DROP,
    /** Grants each lease under the same ID, and keeps it alive until the source's ends. */
    TTL
}
