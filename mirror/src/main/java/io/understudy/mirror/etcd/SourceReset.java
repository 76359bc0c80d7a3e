package io.understudy.mirror.etcd;

/**
 * What to do when the source has another history than what was mirrored: restored from a backup, or wiped.
 *
 * <p>Invariant M18: another history of the source changes nothing in the target unless configured.
 */
public enum SourceReset {
    /** Compare, report what differs, and stop. */
    STOP,
    /** Make the target equal to what the source holds now. */
    RESYNC
}
