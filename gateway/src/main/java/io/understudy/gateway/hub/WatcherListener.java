package io.understudy.gateway.hub;

/** Receives events on the event loop of its watcher; must not block it. */
public interface WatcherListener {

    /**
     * Whether a batch can be delivered now. If not, the watcher is parked until {@link Watcher#resume}, and then
     * continues where it stopped. Called before each batch.
     */
    boolean ready();

    /** Receives one commit or several. */
    void events(EventBatch batch);

    /** Delivery failed; the watcher is cancelled, so that it misses no event silently. */
    void failed(Throwable why);

    /** The source does not serve the next commits: the watcher receives nothing more. */
    default void unreadable(String why) {
        failed(new IllegalStateException(why));
    }

    /**
     * The source has compacted the next commits: the watcher receives nothing more.
     *
     * @param compactRevision the oldest revision that is still available
     */
    void compacted(long compactRevision);
}
