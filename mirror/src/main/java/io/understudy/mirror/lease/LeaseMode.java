package io.understudy.mirror.lease;

/** How leases of the source's keys are handled in the target. */
public enum LeaseMode {
    /** Copies keys without leases; keys that a lease deletes at the source are deleted in the target. */
    DROP,
    /** Grants each lease under the same ID, and keeps it alive as the source does. */
    TTL
}
