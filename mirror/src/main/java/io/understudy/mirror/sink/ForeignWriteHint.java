package io.understudy.mirror.sink;

/** Hears that somebody else may have written to the target. Called on the thread that writes there; must not block. */
public interface ForeignWriteHint {

    /** Doesn't listen. */
    ForeignWriteHint NONE = (after, before) -> {};

    /**
     * Between two transactions of the mirror the target made revisions that are not these transactions': somebody else
     * wrote, anywhere in the target. They are those strictly between the two.
     */
    void between(long afterTargetRevision, long beforeTargetRevision);
}
