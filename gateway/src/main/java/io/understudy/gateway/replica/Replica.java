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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An in-memory copy of a key range, kept by a feed.
 *
 * <p>Written by one thread, the one that polls the feed; what is asked is for every thread. Invariant R1 (equal): a
 * published state equals the source at its revision, over the range, and so does what {@link #at} gives. R2 (forward):
 * published revisions never go back. R3 (whole): a state is published after a whole commit or a completed snapshot, never
 * between. R4 (one history): all of it comes from one cluster and one history. What would break one of them is refused by
 * a {@link ReplicaDivergedException}, and the last good state stays. R5 (bounded): it takes no more memory than it may;
 * rather than that it is dropped, and follows the feed without a state until it is built anew.
 *
 * <p>Not ready until the first snapshot is complete. While a later snapshot is merged, readers keep the state from before.
 */
public final class Replica implements FeedConsumer {

    private static final Logger LOG = LoggerFactory.getLogger(Replica.class);

    private final KeyRange range;
    private final ReplicaSettings settings;
    private final StateListener listener;
    private final AtomicReference<@Nullable String> rebuildWanted = new AtomicReference<>();
    private final AtomicLong generation = new AtomicLong();
    private @Nullable SnapshotMerge merge;
    private @Nullable ClusterId cluster;
    /** When it was dropped, or last tried to be built anew. */
    private long droppedNanos;
    /** Null while there is no state. */
    private volatile @Nullable Window window;

    /** How far the feed has come. Of the writing thread. */
    private @Nullable Position position;
    /** Whether there ever was a state. Of the writing thread. */
    private boolean served;
    /** Whether what was dropped differed from the source. Of the writing thread. */
    private boolean doubted;

    private volatile @Nullable Revision revision;
    private volatile Condition condition = new Condition.Loading();

    /** Told of what becomes of the replica, on the writing thread. */
    @FunctionalInterface
    public interface StateListener {

        /** There is a new state. */
        void published(ReplicaState state);

        /** The feed has come to that revision while there is no state. */
        default void advanced(Revision revision) {}

        /** There is no state any more. */
        default void dropped(Condition.Dropped why) {}
    }

    public Replica(KeyRange range, StateListener listener) {
        this(range, ReplicaSettings.DEFAULTS, listener);
    }

    public Replica(KeyRange range, ReplicaSettings settings, StateListener listener) {
        this.range = range;
        this.settings = settings;
        this.listener = listener;
    }

    public KeyRange range() {
        return range;
    }

    /** The latest state; null until the first snapshot is complete, and while the replica is dropped. */
    public @Nullable ReplicaState state() {
        Window held = readable();
        return held == null ? null : held.latest();
    }

    /**
     * The state at {@code revision}; null if the window doesn't reach back so far, or the replica hasn't come so far yet.
     */
    public @Nullable ReplicaState at(Revision revision) {
        Window held = readable();
        return held == null ? null : held.at(revision);
    }

    /**
     * The first commit after that revision; null if the window has none. Commits between are forgotten unless it
     * {@linkplain HeldCommit#isNextAfter is the next}.
     */
    public @Nullable HeldCommit commitAfter(Revision revision) {
        Window held = readable();
        return held == null ? null : held.next(revision);
    }

    /** Grows with each state that doesn't follow from the one before: when it is built, or dropped for its size. */
    public long generation() {
        return generation.get();
    }

    /** How far the feed has come, with a state or without; null before the first snapshot is complete. */
    public @Nullable Revision revision() {
        return revision;
    }

    /** Why there is a state, or none. */
    public Condition condition() {
        return condition;
    }

    /** Past commits that are held. */
    public long windowCommits() {
        Window held = window;
        return held == null ? 0 : held.size();
    }

    /** About the heap that past revisions take. */
    public long windowBytes() {
        Window held = window;
        return held == null ? 0 : held.bytes();
    }

    /** About the heap that it all takes. */
    public long heapBytes() {
        Window held = window;
        return held == null ? 0 : held.latest().heapBytes() + held.bytes();
    }

    /** Has the replica dropped and built anew from a snapshot, soon; there is no state from now on. For any thread. */
    public void rebuild(String reason) {
        rebuildWanted.set(reason);
    }

    /**
     * For the writing thread: how far it had come when what it held was dropped. A snapshot has to be of that history,
     * which nothing that is held can show. Null if there is a state, or never was one.
     */
    @Nullable Position unrecognised() {
        return served && window == null ? position : null;
    }

    /** For the writing thread: whether it was dropped because it differs from the source, and not for its size. */
    boolean isDoubted() {
        return doubted;
    }

    /** For the writing thread: whether a new feed shall be opened, for a snapshot to build the replica from. */
    boolean isSnapshotDue() {
        String reason = rebuildWanted.get();
        if (reason != null) {
            drop(reason);
            doubted = true;
            rebuildWanted.set(null);
            return true;
        }
        if (!isGivenUp()
                || System.nanoTime() - droppedNanos < settings.retryInterval().toNanos()) {
            return false;
        }
        droppedNanos = System.nanoTime();
        return true;
    }

    @Override
    public void snapshotStarted(ClusterId source, Revision at) {
        requireSameCluster(source);
        Revision reached = revision;
        if (reached != null && at.isBefore(reached)) {
            throw new ReplicaDivergedException("a snapshot at revision " + at + " for a replica that is at " + reached
                    + " already: the source lost commits, or a member far behind answered");
        }
        cluster = source;
        merge = new SnapshotMerge(range, source, at, state());
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        if (isGivenUp()) {
            return;
        }
        SnapshotMerge running = running();
        running.page(covered, entries);
        requireRoom(running.heapBytes());
    }

    @Override
    public void snapshotCompleted(Position position) {
        if (isGivenUp()) {
            advance(position);
            return;
        }
        ReplicaState state = running().complete(position);
        merge = null;
        doubted = false;
        served = true;
        publish(new Window(state, settings.windowRevisions(), settings.windowBytes()), state, position);
        generation.incrementAndGet();
    }

    @Override
    public void commit(Commit commit, Position position) {
        Revision reached = requireTail(position);
        if (!commit.revision().isAfter(reached)) {
            throw new ReplicaDivergedException(
                    "a commit at revision " + commit.revision() + " for a replica that is at " + reached);
        }
        for (Change change : commit.changes()) {
            requireInside(change.key(), commit.revision());
        }
        Window held = window;
        if (held == null) {
            advance(position);
            return;
        }
        ReplicaState before = held.latest();
        List<Entry> changes = new ArrayList<>(commit.changes().size());
        for (Change change : commit.changes()) {
            changes.add(Entry.of(change, commit.revision()));
        }
        Edits edits = Edits.of(changes);
        EntryTree entries = before.entries().apply(edits);
        ReplicaState after = new ReplicaState(before.cluster(), commit.revision(), range, entries);
        held.add(after, List.copyOf(changes), edits.replacedBytes());
        publish(held, after, position);
        requireRoom(0);
    }

    @Override
    public void progress(Position position) {
        Revision reached = requireTail(position);
        if (!position.revision().isAfter(reached)) {
            return;
        }
        Window held = window;
        if (held == null) {
            advance(position);
        } else {
            held.advance(position.revision());
            publish(held, held.latest(), position);
        }
    }

    /** Null as soon as it is known to be wrong, though the writing thread has yet to drop it. */
    private @Nullable Window readable() {
        return rebuildWanted.get() == null ? window : null;
    }

    private void publish(Window held, ReplicaState state, Position at) {
        window = held;
        position = at;
        revision = state.revision();
        condition = new Condition.Ready();
        listener.published(state);
    }

    private void advance(Position at) {
        position = at;
        revision = at.revision();
        listener.advanced(at.revision());
    }

    /** With what a snapshot on its way takes beside the state and its window. */
    private void requireRoom(long beside) {
        long bytes = beside + heapBytes();
        if (bytes > settings.maxBytes()) {
            drop("it would take more memory than it may: " + bytes + " bytes of " + settings.maxBytes()
                    + ", see replica.maxBytes");
            generation.incrementAndGet();
        }
    }

    private void drop(String reason) {
        LOG.warn("replica dropped revision={} why=\"{}\"", revision, reason);
        Condition.Dropped why = new Condition.Dropped(reason);
        merge = null;
        window = null;
        condition = why;
        droppedNanos = System.nanoTime();
        listener.dropped(why);
    }

    /** Dropped, and not being built anew. */
    private boolean isGivenUp() {
        return condition instanceof Condition.Dropped && merge == null;
    }

    /** How far the tail of commits has come, which may go on. */
    private Revision requireTail(Position position) {
        Revision reached = revision;
        if (reached == null || merge != null) {
            throw new ReplicaDivergedException("a commit or progress at revision " + position.revision()
                    + (reached == null ? " before the first snapshot" : " inside a snapshot"));
        }
        requireSameCluster(position.cluster());
        return reached;
    }

    private SnapshotMerge running() {
        if (merge == null) {
            throw new ReplicaDivergedException("a page or end of a snapshot that was not started");
        }
        return merge;
    }

    private void requireSameCluster(ClusterId found) {
        if (cluster != null && !cluster.equals(found)) {
            throw new ReplicaDivergedException(
                    "the feed now reads cluster " + found + ", the replica holds cluster " + cluster);
        }
    }

    private void requireInside(ByteString key, Revision at) {
        if (!range.contains(key)) {
            throw new ReplicaDivergedException("a change outside the replica's range at revision " + at);
        }
    }
}
