package io.understudy.gateway.replica;

import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentNavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.jspecify.annotations.Nullable;

/**
 * The latest state and the commits that led to it, as far back as there is room for. One thread writes; any thread reads,
 * without locks. It begins at a snapshot, before which nothing is known: after another snapshot there is another window.
 *
 * <p>Held are whole states, but they share all that didn't change: a commit costs what it replaced, and that is what is
 * counted against the limit.
 */
final class Window {

    /** Of a commit itself: an element of the map, states, revisions, lists. */
    private static final int BYTES_OF_A_COMMIT = 288;

    private static final int BYTES_OF_A_CHANGE = 20;

    private final int maxCommits;
    private final long maxBytes;
    private final ConcurrentNavigableMap<Long, Held> commits = new ConcurrentSkipListMap<>();

    private volatile ReplicaState latest;
    /** As it was before the first of the commits. */
    private volatile ReplicaState oldest;

    private volatile int size;
    private volatile long bytes;

    private record Held(HeldCommit commit, long bytes) {}

    /**
     * @param maxCommits that are held
     * @param maxBytes of heap that may be held by them and not by the latest state; a single commit may take more
     */
    Window(ReplicaState snapshot, int maxCommits, long maxBytes) {
        this.latest = snapshot;
        this.oldest = snapshot;
        this.maxCommits = maxCommits;
        this.maxBytes = maxBytes;
    }

    ReplicaState latest() {
        return latest;
    }

    /** How many commits are held. */
    int size() {
        return size;
    }

    /** Heap that is held by the window and not by the latest state. */
    long bytes() {
        return bytes;
    }

    /** The state at that revision; null for one before the window or after the latest state. */
    @Nullable ReplicaState at(Revision revision) {
        if (revision.isAfter(latest.revision())) {
            return null;
        }
        Map.Entry<Long, Held> found = commits.floorEntry(revision.value());
        if (found != null) {
            return found.getValue().commit().after().asOf(revision);
        }
        ReplicaState first = oldest;
        return first.revision().isAfter(revision) ? null : first.asOf(revision);
    }

    /**
     * The first commit after that revision; null if there is none yet. It {@linkplain HeldCommit#isNextAfter is the next}
     * one unless that has been forgotten.
     */
    @Nullable HeldCommit next(Revision revision) {
        Map.Entry<Long, Held> found = commits.higherEntry(revision.value());
        return found == null ? null : found.getValue().commit();
    }

    /**
     * Takes the next commit, and makes room for it.
     *
     * @param replacedBytes what of the state before isn't held by the one after
     */
    void add(ReplicaState after, List<Entry> changes, long replacedBytes) {
        Map.Entry<Long, Held> last = commits.lastEntry();
        ReplicaState before = last == null ? oldest : last.getValue().commit().after();
        long cost = replacedBytes + BYTES_OF_A_COMMIT + bytesOf(changes);
        commits.put(after.revision().value(), new Held(new HeldCommit(before, after, changes), cost));
        latest = after;
        int held = size + 1;
        long sum = bytes + cost;
        while (held > 1 && (held > maxCommits || sum > maxBytes)) {
            Held first = commits.firstEntry().getValue();
            // In this order: whoever no longer finds the commit finds a state that is too new, not one too old.
            oldest = first.commit().after();
            commits.remove(first.commit().revision().value());
            held--;
            sum -= first.bytes();
        }
        size = held;
        bytes = sum;
    }

    /** What isn't part of a state either. */
    private static long bytesOf(List<Entry> changes) {
        long sum = (long) BYTES_OF_A_CHANGE * changes.size();
        for (Entry change : changes) {
            sum += change.isDeleted() ? Heap.ofArray(change.wireSize()) : 0;
        }
        return sum;
    }

    /** Nothing happened up to that revision. */
    void advance(Revision revision) {
        latest = latest.asOf(revision);
    }
}
