package io.understudy.mirror.etcd;

/** Selects which states of the source watchers of the target see. */
public enum TargetHistory {
    /** Some, in order: consecutive commits are merged, with the last write per key. */
    COALESCED,
    /** All: every source commit becomes one target commit. */
    EVERY_COMMIT
}
