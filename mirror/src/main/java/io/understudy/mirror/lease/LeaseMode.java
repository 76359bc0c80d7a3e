package io.understudy.mirror.lease;

/** What becomes in the target of the leases that the source's keys have. */
public enum LeaseMode {
    /** Values are copied without them; what a lease ends at the source is deleted in the target. */
    DROP,
    /** Each is granted in the target under the same id, and kept alive for as long as the source's lives. */
    TTL
}
