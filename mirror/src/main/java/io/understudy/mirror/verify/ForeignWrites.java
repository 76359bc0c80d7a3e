package io.understudy.mirror.verify;

/** Reaction to a foreign write to a mirrored key of the target. */
public enum ForeignWrites {
    /** Log and count it. */
    REPORT,
    /** Log and count it, and restore the source's value. */
    REPAIR
}
