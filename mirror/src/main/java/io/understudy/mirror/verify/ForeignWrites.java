package io.understudy.mirror.verify;

/** What to do about a key of the mirrored range that somebody else than the mirror has written in the target. */
public enum ForeignWrites {
    /** Log and count it. */
    REPORT,
    /** Log and count it, and put back what the source has. */
    REPAIR
}
