package io.understudy.mirror.sink;

/** Hears from a sink what its mirror shows. Called on the mirror's thread or on a client's; must not block. */
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
}
