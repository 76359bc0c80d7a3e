package io.understudy.mirror.sink;

/** Hears from a sink what its mirror shows. Called on any thread, one call at a time; must not block. */
public interface SinkListener {

    /** An attempt at a call that the sink can't go on without failed and will be repeated; {@code why} names the cluster. */
    void unavailable(String why);

    /** What failed, see {@link #unavailable}, is answered again. */
    void available();

    /**
     * One write to the target succeeded, so it answers.
     *
     * @param changes puts and deletes in it, 0 if it only moved the checkpoint
     */
    void written(long changes);

    /** A commit was not written: it has been at the target before. */
    default void passedOver() {}
}
