package io.understudy.gateway.replica;

import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * What followed a snapshot of the past, until it has come to the present: out of sight till then, so that nobody is led
 * through the past. For the writing thread.
 */
final class Replay {

    private final Revision upTo;
    private final CommitLog log = new CommitLog();
    private final long bytesOfSnapshot;
    private final long bytesShared;
    private @Nullable Window window;

    /**
     * @param upTo the present
     * @param window as the snapshot had it; null if there is no room for states
     * @param bytesOfSnapshot of heap that it takes beside the state that is still published
     */
    Replay(Revision from, Revision upTo, @Nullable Window window, long bytesOfSnapshot) {
        this.upTo = upTo;
        this.window = window;
        this.bytesOfSnapshot = bytesOfSnapshot;
        this.bytesShared = window == null ? 0 : window.latest().heapBytes();
        log.begin(from.value());
    }

    CommitLog log() {
        return log;
    }

    @Nullable Window window() {
        return window;
    }

    Revision reached() {
        return new Revision(log.head());
    }

    boolean isDone() {
        return log.head() >= upTo.value();
    }

    /** About the heap that the latest state takes beside the one that is still published. */
    long stateBytes() {
        Window held = window;
        return held == null ? 0 : Math.max(0, bytesOfSnapshot + held.latest().heapBytes() - bytesShared);
    }

    /** Goes on without states. */
    void drop() {
        window = null;
        log.forgetPrevious();
    }
}
