package io.understudy.mirror.etcd;

/** Which of the source's states watchers of the target see. */
public enum TargetHistory {
    /** Some of them, in order: consecutive commits are joined into one, the last write of a key winning. */
    COALESCED,
    /** All of them: every commit of the source is one of the target. */
    EVERY_COMMIT
}
