package io.understudy.gateway.replica;

import io.understudy.vocabulary.Revision;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * The latest state and the retained ones before it. One thread writes; any thread reads, without locks. Another
 * snapshot starts another window.
 *
 * <p>States share everything unchanged; the cost of the rest is counted with the commits.
 *
 * <p>Invariant R1b: within the window, every past state and logged commit equals the source, and the commit log has no
 * gap.
 */
final class Window {

    /** States by the revisions of their commits. */
    private final ConcurrentNavigableMap<Long, ReplicaState> states = new ConcurrentSkipListMap<>();

    private volatile ReplicaState latest;
    /** The state before the first of the others. */
    private volatile ReplicaState oldest;

    Window(ReplicaState snapshot) {
        this.latest = snapshot;
        this.oldest = snapshot;
    }

    ReplicaState latest() {
        return latest;
    }

    ReplicaState oldest() {
        return oldest;
    }

    /** Returns the state at that revision; null before the window or after the latest state. */
    @Nullable ReplicaState at(Revision revision) {
        if (revision.isAfter(latest.revision())) {
            return null;
        }
        Map.Entry<Long, ReplicaState> found = states.floorEntry(revision.value());
        if (found != null) {
            return found.getValue().asOf(revision);
        }
        ReplicaState first = oldest;
        return first.revision().isAfter(revision) ? null : first.asOf(revision);
    }

    /** Adds the state after the next commit. */
    void add(ReplicaState after) {
        states.put(after.revision().value(), after);
        latest = after;
    }

    /** Advances the latest state without a commit. */
    void advance(Revision revision) {
        latest = latest.asOf(revision);
    }

    /** Drops the states before the commit at that revision. */
    void forget(long revision) {
        Map.Entry<Long, ReplicaState> last = states.floorEntry(revision);
        if (last != null) {
            // In this order: a reader that misses a state finds a newer one, not an older one.
            oldest = last.getValue();
            states.headMap(revision, true).clear();
        }
    }
}
