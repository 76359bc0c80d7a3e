package io.understudy.gateway.hub;

/** Who is told, on the event loop of its watcher; must not block it. */
public interface WatcherListener {

    /**
     * Whether to be told now. If not, the watcher is told nothing until {@link Watcher#resume}, and then goes on where it
     * stopped. Asked before each batch.
     */
    boolean ready();

    /** Commits, or one. */
    void events(EventBatch batch);

    /** Telling it has failed, by its own fault or ours: it is told nothing more, lest it miss something unawares. */
    void failed(Throwable why);

    /** The source does not serve what would have come next: the watcher receives nothing more. */
    default void unreadable(String why) {
        failed(new IllegalStateException(why));
    }

    /**
     * The source has compacted what would have come next: the watcher is told nothing more.
     *
     * @param compactRevision the oldest revision that can still be had
     */
    void compacted(long compactRevision);
}
