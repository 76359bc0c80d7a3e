package io.understudy.mirror.etcd;

/**
 * Action when the source has another history, as after a restore or wipe.
 *
 * <p>Invariant M18: another history of the source changes nothing in the target unless configured.
 */
public enum SourceReset {
    /** Compare, report what differs, and stop. */
    STOP,
    /** Make the target equal to the source's current state. */
    RESYNC
}
