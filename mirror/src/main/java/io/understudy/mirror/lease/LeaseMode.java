package io.understudy.mirror.lease;

/** How leases of the source's keys are handled in the target. */
public enum LeaseMode {
    /** Values are copied without them; what a lease ends at the source is deleted in the target. */
    DROP,
    /** Each is granted in the target under the same id, and kept alive for as long as the source's lives. */
    TTL
}
