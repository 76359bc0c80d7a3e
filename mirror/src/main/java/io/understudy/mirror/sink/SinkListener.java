package io.understudy.mirror.sink;

import java.time.Duration;

/** Receives a sink's state for its mirror's status. Called on any thread, one call at a time; must not block. */
public interface SinkListener {

    /** Reports a failed attempt at a required call, which will be repeated. The text {@code why} names the cluster. */
    void unavailable(String why);

    /** Reports that failed calls succeed again, see {@link #unavailable}. */
    void available();

    /**
     * Reports a successful write to the target.
     *
     * @param changes number of puts and deletes, 0 if only the checkpoint moved
     */
    void written(long changes);

    /**
     * Reports a transaction of several commits; called in addition to {@link #written}.
     *
     * @param commits number of whole commits, 0 for a record without changes
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
