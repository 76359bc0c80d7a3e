package io.understudy.mirror.etcd;

/** What to do when the source has another history than what was mirrored: restored from a backup, or wiped. */
public enum SourceReset {
    /** Find out what differs, tell it, and stop. */
    STOP,
    /** Make the target equal to what the source holds now. */
    RESYNC
}
