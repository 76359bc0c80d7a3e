package io.understudy.mirror.sink;

/** Hears from a sink what its mirror shows. Called on any thread, one call at a time; must not block. */
public interface SinkListener {

    /** An attempt on the target failed and will be repeated. */
    void unavailable(String why);

    /** The target answers again after {@link #unavailable}. */
    void available();

    /**
     * One write to the target succeeded.
     *
     * @param changes puts and deletes in it, 0 if it only moved the checkpoint
     */
    void written(long changes);

    /** A commit was not written: it has been at the target before. */
    default void passedOver() {}
}
