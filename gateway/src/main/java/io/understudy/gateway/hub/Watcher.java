package io.understudy.gateway.hub;

import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.KeyRange;
import org.jspecify.annotations.Nullable;

/**
 * A consumer of commits. Confined to its event loop.
 *
 * <p>It is in a cohort; parked while its listener isn't ready; waiting for its start revision; or ended.
 */
public final class Watcher {

    private final WatcherGroup group;
    private final WatchSpec spec;
    private final WatcherListener listener;
    /** The filter group of its cohort; null outside a cohort. */
    @Nullable FilterGroup filterGroup;
    /** Its index in the filter group. */
    int place;
    /** Revision up to which events were delivered; its cohort's if that is greater. */
    long delivered;
    /** The last batch's number, so that none is delivered twice. */
    long batch;

    private State state = State.COMING;

    enum State {
        /** Before its start revision. */
        COMING,
        /** In a cohort. */
        ACTIVE,
        /** Parked until its listener is ready. */
        PARKED,
        /** Ended as compacted; it has its place until its owner cancels it. */
        COMPACTED,
        /** Ended. */
        OVER
    }

    Watcher(WatcherGroup group, WatchSpec spec, WatcherListener listener) {
        this.group = group;
        this.spec = spec;
        this.listener = listener;
    }

    public WatchSpec spec() {
        return spec;
    }

    /** Whether all events up to {@link LoopHub#revision} were delivered, and its start is not after that. */
    public boolean isSynced() {
        return group.isLive(this) && spec.startRevision() <= group.revision();
    }

    /** The revision up to which all events were delivered, while it {@linkplain #isSynced is synced}. */
    public long revision() {
        return group.revision();
    }

    /** Resumes a parked watcher, as its listener is ready again; otherwise does nothing. */
    public void resume() {
        group.resume(this);
    }

    /** Cancels the watcher. Idempotent. */
    public void cancel() {
        group.cancel(this);
    }

    WatcherListener listener() {
        return listener;
    }

    State state() {
        return state;
    }

    void state(State next) {
        state = next;
    }

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

    /**
     * A change as watchers receive it.
     *
     * @param entry the changed key; of a deleted one only key and mod revision
     * @param previous the entry before the change, if requested and available
     */
    public record WatchEvent(Entry entry, @Nullable Entry previous) {

        /** The approximate size of its encoding. */
        long bytes() {
            return (long) entry.wireSize() + (previous == null ? 0 : previous.wireSize());
        }

        public boolean isDelete() {
            return entry.isDeleted();
        }
    }

    /**
     * What a watcher receives.
     *
     * @param startRevision of the first commit; 0 for the first one after now
     * @param previous whether events include the previous entry
     * @param noPuts omits puts
     * @param noDeletes omits deletes
     */
    public record WatchSpec(KeyRange range, long startRevision, boolean previous, boolean noPuts, boolean noDeletes) {}
}
