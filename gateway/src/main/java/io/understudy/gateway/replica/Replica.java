package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.feed.FeedConsumer;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An in-memory copy of a key range, kept by a feed.
 *
 * <p>Written by one thread, the one that polls the feed; {@link #state} is for every thread. Invariant R1 (equal): a
 * published state equals the source at its revision, over the range. R2 (forward): published revisions never go back.
 * R3 (whole): a state is published after a whole commit or a completed snapshot, never between. R4 (one history): all of
 * it comes from one cluster and one history. What would break one of them is refused by a
 * {@link ReplicaDivergedException}, and the last good state stays.
 *
 * <p>Not ready until the first snapshot is complete. While a later snapshot is merged, readers keep the state from before.
 */
public final class Replica implements FeedConsumer {

    private final KeyRange range;
    private final StateListener listener;
    private @Nullable SnapshotMerge merge;
    private volatile @Nullable ReplicaState state;

    /** Told of each published state, on the writing thread. */
    @FunctionalInterface
    public interface StateListener {
        void published(ReplicaState state);
    }

    public Replica(KeyRange range, StateListener listener) {
        this.range = range;
        this.listener = listener;
    }

    public KeyRange range() {
        return range;
    }

    /** The latest state; null until the first snapshot is complete. */
    public @Nullable ReplicaState state() {
        return state;
    }

    /**
     * The state at {@code revision}; null if the window doesn't reach back so far, or the replica hasn't come so far yet.
     */
    public @Nullable ReplicaState at(Revision revision) {
        ReplicaState held = state;
        return held != null && held.revision().equals(revision) ? held : null;
    }

    @Override
    public void snapshotStarted(ClusterId cluster, Revision revision) {
        ReplicaState held = state;
        if (held != null) {
            requireSameCluster(held, cluster);
            if (revision.isBefore(held.revision())) {
                throw new ReplicaDivergedException("a snapshot at revision " + revision + " for a replica that is at "
                        + held.revision() + " already: the source lost commits, or a member far behind answered");
            }
        }
        merge = new SnapshotMerge(range, cluster, revision, held);
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        running().page(covered, entries);
    }

    @Override
    public void snapshotCompleted(Position position) {
        SnapshotMerge completed = running();
        merge = null;
        publish(completed.complete(position));
    }

    @Override
    public void commit(Commit commit, Position position) {
        ReplicaState held = held(position);
        if (!commit.revision().isAfter(held.revision())) {
            throw new ReplicaDivergedException(
                    "a commit at revision " + commit.revision() + " for a replica that is at " + held.revision());
        }
        for (Change change : commit.changes()) {
            requireInside(change.key(), commit.revision());
        }
        EntryTree entries = held.entries().apply(Edits.of(commit.changes()));
        publish(new ReplicaState(held.cluster(), commit.revision(), range, entries));
    }

    @Override
    public void progress(Position position) {
        ReplicaState held = held(position);
        if (position.revision().isAfter(held.revision())) {
            publish(new ReplicaState(held.cluster(), position.revision(), range, held.entries()));
        }
    }

    private void publish(ReplicaState next) {
        state = next;
        listener.published(next);
    }

    private ReplicaState held(Position position) {
        ReplicaState held = state;
        if (held == null || merge != null) {
            throw new ReplicaDivergedException("a commit or progress at revision " + position.revision()
                    + (held == null ? " before the first snapshot" : " inside a snapshot"));
        }
        requireSameCluster(held, position.cluster());
        return held;
    }

    private SnapshotMerge running() {
        if (merge == null) {
            throw new ReplicaDivergedException("a page or end of a snapshot that was not started");
        }
        return merge;
    }

    private static void requireSameCluster(ReplicaState held, ClusterId found) {
        if (!held.cluster().equals(found)) {
            throw new ReplicaDivergedException(
                    "the feed now reads cluster " + found + ", the replica holds cluster " + held.cluster());
        }
    }

    private void requireInside(ByteString key, Revision revision) {
        if (!range.contains(key)) {
            throw new ReplicaDivergedException("a change outside the replica's range at revision " + revision);
        }
    }
}
