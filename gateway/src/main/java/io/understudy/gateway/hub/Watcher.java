package io.understudy.gateway.hub;

import org.jspecify.annotations.Nullable;

/**
 * One who is told of commits. On its event loop only.
 *
 * <p>It is a member of a cohort; or parked, while its listener isn't ready; or has its start still before it; or is over.
 */
public final class Watcher {

    private final Lane lane;
    private final WatchSpec spec;
    private final WatcherListener listener;
    /** The audience of a cohort that it is one of; null while it is in none. */
    @Nullable Audience audience;
    /** Its place in the audience. */
    int place;
    /** Told of all up to this revision, or up to its cohort's if that is greater. */
    long told;
    /** The last batch's number, so that none is told twice. */
    long batch;

    private State state = State.COMING;

    /** Where it stands. */
    enum State {
        /** Its start is still to come. */
        COMING,
        /** In a cohort. */
        TOLD,
        /** Until its listener is ready. */
        PARKED,
        /** Told nothing more. */
        OVER
    }

    Watcher(Lane lane, WatchSpec spec, WatcherListener listener) {
        this.lane = lane;
        this.spec = spec;
        this.listener = listener;
    }

    public WatchSpec spec() {
        return spec;
    }

    /** Whether it has been told of all up to {@link LoopHub#revision}, and its start is not after that. */
    public boolean isSynced() {
        return lane.isLive(this) && spec.startRevision() <= lane.revision();
    }

    /** Up to which it was told of all, while it {@linkplain #isSynced is synced}; for one just added, where it stands. */
    public long revision() {
        return lane.revision();
    }

    /** Its listener is ready again. Does nothing unless it was found not to be. */
    public void resume() {
        lane.resume(this);
    }

    /** Is told nothing more. Idempotent. */
    public void cancel() {
        lane.cancel(this);
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
}
