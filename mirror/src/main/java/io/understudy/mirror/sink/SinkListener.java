package io.understudy.mirror.sink;

import java.time.Duration;

/** Receives a sink's state for its mirror's status. Called on any thread, one call at a time; must not block. */
public interface SinkListener {

    /** An attempt at a call that the sink requires failed and will be repeated; {@code why} names the cluster. */
    void unavailable(String why);

    /** What failed, see {@link #unavailable}, is answered again. */
    void available();

    /**
     * One write to the target succeeded, so it answers.
     *
     * @param changes puts and deletes in it, 0 if it only moved the checkpoint
     */
    void written(long changes);

    /**
     * One transaction of several commits was committed; called in addition to {@link #written}.
     *
     * @param commits whole ones in it, 0 if it only recorded that nothing had changed
     * @param took since its first record was sent
     */
    default void committed(long commits, Duration took) {}

    /** A transaction ended without a confirmed commit. */
    default void aborted() {}

    /** The target has a record of another writer. */
    default void stray() {}

    /** A commit was not written: it has been at the target before. */
    default void passedOver() {}
}
