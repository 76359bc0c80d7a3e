package io.understudy.mirror.sink;

/** Receives hints of foreign writes to the target. Called on the thread that writes there; must not block. */
public interface ForeignWriteHint {

    /** Ignores hints. */
    ForeignWriteHint NONE = (after, before) -> {};

    /** Reports another client's write between these revisions of two transactions of the mirror. */
    void between(long afterTargetRevision, long beforeTargetRevision);
}
