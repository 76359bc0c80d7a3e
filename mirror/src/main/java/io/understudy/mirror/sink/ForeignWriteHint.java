package io.understudy.mirror.sink;

/** Receives hints of foreign writes to the target. Called on the thread that writes there; must not block. */
public interface ForeignWriteHint {

    /** Doesn't listen. */
    ForeignWriteHint NONE = (after, before) -> {};

    /**
     * Another client wrote, anywhere in the target: there are revisions strictly between those of two transactions of
     * the mirror.
     */
    void between(long afterTargetRevision, long beforeTargetRevision);
}
