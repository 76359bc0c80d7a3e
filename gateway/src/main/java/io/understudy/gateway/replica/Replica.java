package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.feed.FeedConsumer;
import io.understudy.gateway.replica.EntryTree.Edits;
import io.understudy.gateway.replica.ReplicaState.Condition;
import io.understudy.gateway.replica.ReplicaState.ReplicaListener;
import io.understudy.gateway.replica.ReplicaState.Window;
import io.understudy.gateway.replica.ReplicaWriter.SourceMove;
import io.understudy.gateway.replica.SnapshotMerge.ReplicaDivergedException;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An in-memory copy of a key range, maintained by a feed.
 *
 * <p>Written by the thread that polls the feed; read by any. An event that would violate an invariant fails with a
 * {@link ReplicaDivergedException}, and the last good state stays. A dropped replica follows the feed without a state
 * until it is rebuilt.
 *
 * <p>Not ready until the first snapshot is complete. While a later snapshot is merged, readers keep the previous state.
 *
 * <p>Invariant R1: a published state equals the source at its revision, over the range.
 *
 * <p>Invariant R2: published revisions never decrease.
 *
 * <p>Invariant R3: a state is published only after a whole commit or a complete snapshot, and no read is served before
 * the first.
 *
 * <p>Invariant R4: another cluster or another history is rejected and fails the gateway, also during a rebuild.
 *
 * <p>Invariant R5: estimated memory use is close to the actual one and stays within the limit; a replica that would
 * exceed it is dropped.
 */
public final class Replica implements FeedConsumer {

    private static final Logger LOG = LoggerFactory.getLogger(Replica.class);

    private final KeyRange range;
    private final ReplicaSettings settings;
    private final ReplicaListener listener;
    private final AtomicReference<@Nullable String> rebuildWanted = new AtomicReference<>();
    private final AtomicLong generation = new AtomicLong();
    private final CommitLog log = new CommitLog();
    private final KeptVersions kept;
    private @Nullable SnapshotMerge merge;
    /** The approximate heap use of the current snapshot if above the limit, else 0. Of the writing thread. */
    private long exceeding;

    private volatile @Nullable ClusterId cluster;
    /** When a dropped state's next snapshot is due; null while the feed reads one. Of the writing thread. */
    private @Nullable Long retryNanos;
    /** Null while there is no state. */
    private volatile @Nullable Window window;

    /** The feed's position. Of the writing thread. */
    private @Nullable Position position;
    /** Whether there ever was a state. Of the writing thread. */
    private boolean served;
    /** Whether the dropped state differed from the source. Of the writing thread. */
    private boolean doubted;

    private volatile @Nullable Revision revision;
    private volatile Condition condition = new Condition.Loading();

    public Replica(KeyRange range, ReplicaListener listener) {
        this(range, ReplicaSettings.DEFAULTS, listener);
    }

    public Replica(KeyRange range, ReplicaSettings settings, ReplicaListener listener) {
        this.range = range;
        this.settings = settings;
        this.listener = listener;
        this.kept = new KeptVersions(this::spareBytes, listener::ended);
    }

    public KeyRange range() {
        return range;
    }

    /** Returns the latest state. Null until the first snapshot is complete, and while the replica is dropped. */
    public @Nullable ReplicaState state() {
        Window held = readable();
        return held == null ? null : held.latest();
    }

    /**
     * The state at {@code revision}; null outside the window, or if the source has compacted it.
     */
    public @Nullable ReplicaState at(Revision revision) {
        Window held = readable();
        return held == null || revision.value() < log.compacted() ? null : held.at(revision);
    }

    /**
     * Marks all revisions before {@code revision} as compacted: the source handles their reads and watches. No effect
     * if the replica does not follow that cluster. Thread-safe.
     */
    public void compacted(ClusterId source, Revision revision) {
        if (source.equals(cluster)) {
            log.compacted(revision.value());
        }
    }

    /** The oldest revision that the replica serves; null before the first snapshot. */
    public @Nullable Revision oldest() {
        long from = log.from();
        return from == CommitLog.NONE ? null : new Revision(Math.max(from, log.compacted()));
    }

    /**
     * The latest commits, with a state or without, as far back as the window reaches. It continues without a gap when
     * the state is dropped, and restarts after a snapshot.
     */
    public CommitLog log() {
        return log;
    }

    /** The memory of versions that unfinished responses keep. */
    public KeptVersions kept() {
        return kept;
    }

    /** Incremented with each snapshot, each move, and each drop for lack of memory. */
    public long generation() {
        return generation.get();
    }

    /** Returns the revision that the feed has reached, with a state or without. Null before the first full snapshot. */
    public @Nullable Revision revision() {
        return revision;
    }

    /** The source's cluster ID; null before the first snapshot. */
    public @Nullable ClusterId cluster() {
        return cluster;
    }

    /** The condition, with the reason if there is no state. */
    public Condition condition() {
        return condition;
    }

    /** The approximate heap use. */
    public long heapBytes() {
        Window held = window;
        return log.bytes() + (held == null ? 0 : held.latest().heapBytes());
    }

    /** Drops the state at once, and rebuilds it from a snapshot. Thread-safe. */
    public void rebuild(String reason) {
        rebuildWanted.set(reason);
    }

    /**
     * The dropped state's position, which a snapshot's history must include. Null if there is a state, or never was
     * one. For the writing thread.
     */
    @Nullable Position unrecognised() {
        return served && window == null ? position : null;
    }

    /** Whether the state was dropped because it differs from the source. For the writing thread. */
    boolean isDoubted() {
        return doubted;
    }

    /** The next feed starts with a snapshot, however long that takes. For the writing thread. */
    void feedOpened() {
        retryNanos = null;
    }

    /** Whether to open a new feed for a snapshot. For the writing thread. */
    boolean isSnapshotDue() {
        String reason = rebuildWanted.get();
        if (reason != null) {
            drop(reason);
            doubted = true;
            rebuildWanted.set(null);
            return true;
        }
        Long retry = retryNanos;
        return retry != null && isGivenUp() && System.nanoTime() - retry >= 0;
    }

    /**
     * Follows another cluster, without a state until its first snapshot is complete. Watchers at the end marker
     * continue at {@link SourceMove#revision}, if the log ends exactly there; otherwise the log is empty, and all
     * before that revision counts as compacted. So does it for watchers of keys that are not mirrored. If clients may
     * know greater revisions, the log restarts. For the writing thread.
     */
    void moved(SourceMove move) {
        Revision reached = revision;
        boolean back = goesBack(move);
        boolean whole = merge == null && !doubted && endsAt(move);
        long seen = newest(move).value();
        merge = null;
        forgetStates();
        cluster = null;
        position = null;
        doubted = false;
        rebuildWanted.set(null);
        if (reached != null) {
            Condition.Dropped why = new Condition.Dropped("primary moved");
            condition = why;
            generation.incrementAndGet();
            listener.dropped(why);
        }
        if (back) {
            log.restart(seen);
            revision = null;
            listener.restarted(move.revision());
        } else if (reached != null) {
            if (whole) {
                log.move(move.revision().value(), move.mirrored());
            } else {
                log.begin(move.revision().value());
            }
            revision = move.revision();
            listener.advanced(move.revision());
        }
        requireRoom();
    }

    /** Whether clients may have seen revisions that the new cluster has yet to reach. Thread-safe. */
    boolean goesBack(SourceMove move) {
        return !move.revision().isAfter(newest(move));
    }

    private Revision newest(SourceMove move) {
        Revision reached = revision;
        Revision known = move.former().isBefore(move.endMarker()) ? move.endMarker() : move.former();
        return reached == null || reached.isBefore(known) ? known : reached;
    }

    /** Whether the log covers the end marker, and later commits are of unrelated keys only. */
    private boolean endsAt(SourceMove move) {
        long end = move.endMarker().value();
        if (end == 0 || log.head() < end || !log.covers(end)) {
            return false;
        }
        for (LoggedCommit later = log.after(end);
                later != null;
                later = log.after(later.revision().value())) {
            if (!later.changes().stream().map(Entry::key).allMatch(move.unrelated())) {
                return false;
            }
        }
        return true;
    }

    @Override
    public void snapshotStarted(ClusterId source, Revision at) {
        requireSameCluster(source);
        Revision reached = revision;
        if (reached != null && at.isBefore(reached)) {
            throw new ReplicaDivergedException("snapshot at revision " + at + " is older than the replica at revision "
                    + reached + ": the source lost commits, or a lagging member responded");
        }
        cluster = source;
        merge = new SnapshotMerge(range, source, at, state(), kept);
        exceeding = 0;
    }

    @Override
    public void snapshotPage(KeyRange covered, List<KeyValue> entries) {
        if (isGivenUp()) {
            entries.forEach(entry ->
                    exceeding += Heap.ofEntries(Totals.of(Entry.of(entry).wire())));
            return;
        }
        running().page(covered, entries);
        requireRoom();
    }

    @Override
    public void snapshotCompleted(Position position) {
        if (!isGivenUp()) {
            window = new Window(running().complete(position));
            served = true;
            generation.incrementAndGet();
        } else if (retryNanos == null) {
            retryNanos = nextRetry();
        }
        if (exceeding > 0) {
            String reason = "snapshot needs about " + exceeding + " bytes; allowed: " + settings.maxBytes()
                    + " bytes (replica.maxBytes); the default needs a heap of " + ReplicaSettings.heapFor(exceeding);
            condition = new Condition.Dropped(reason);
            LOG.atWarn().addKeyValue("cause", reason).log("replica does not fit");
        }
        merge = null;
        // The history is verified, whether the state fits or not.
        doubted = false;
        log.begin(position.revision().value());
        reached(position);
        requireRoom();
    }

    @Override
    public void commit(Commit commit, Position position) {
        Revision reached = requireTail(position);
        if (!commit.revision().isAfter(reached)) {
            throw new ReplicaDivergedException("commit at revision " + commit.revision()
                    + " is not newer than the replica at revision " + reached);
        }
        for (Change change : commit.changes()) {
            requireInside(change.key(), commit.revision());
        }
        List<Entry> changes = LoggedCommit.entriesOf(commit);
        append(commit.revision(), changes);
        reached(position);
        requireRoom();
    }

    @Override
    public void progress(Position position) {
        Revision reached = requireTail(position);
        if (position.revision().isAfter(reached)) {
            reached(position);
        }
    }

    @Override
    public void asOf(Instant time) {
        Revision reached = revision;
        if (reached != null && merge == null) {
            listener.asOf(reached, time);
        }
    }

    /** Null as soon as it is reported wrong, before the writing thread drops it. */
    private @Nullable Window readable() {
        return rebuildWanted.get() == null ? window : null;
    }

    private void append(Revision at, List<Entry> changes) {
        Window states = window;
        if (states == null) {
            log.add(new LoggedCommit(at, changes, null));
            return;
        }
        Edits edits = Edits.of(changes);
        ReplicaState before = states.latest();
        EntryTree after = before.entries().apply(edits);
        kept.replace(edits.replacedBytes());
        // In this order: the state of a delivered commit is available.
        states.add(new ReplicaState(before.cluster(), at, range, after, kept));
        log.add(LoggedCommit.onto(before, at, changes, edits.replacedBytes()));
    }

    private void reached(Position at) {
        Window held = window;
        if (held != null) {
            held.advance(at.revision());
        }
        log.advance(at.revision().value());
        position = at;
        revision = at.revision();
        if (held == null) {
            listener.advanced(at.revision());
        } else {
            condition = new Condition.Ready();
            listener.published(held.latest());
        }
    }

    /** Drops past states first, then all if that isn't enough. */
    private void requireRoom() {
        Window held = window;
        SnapshotMerge running = merge;
        long states = (held == null ? 0 : held.latest().heapBytes()) + (running == null ? 0 : running.heapBytes());
        long room = settings.maxBytes() - states;
        log.keep(settings.windowRevisions(), Math.min(settings.windowBytes(), room));
        if (held != null) {
            held.forget(log.from());
        }
        if ((held != null || running != null) && log.bytes() > room) {
            long bytes = states + log.bytes();
            drop("memory limit exceeded: " + bytes + " bytes; allowed: " + settings.maxBytes()
                    + " bytes (replica.maxBytes)");
            if (held != null && running != null) {
                // One state may fit where two do not.
                retryNanos = System.nanoTime();
            }
            generation.incrementAndGet();
        } else {
            kept.dropped(held == null ? kept.replaced() : held.oldest().replaced(), log.from());
        }
    }

    private long spareBytes() {
        return settings.maxBytes() - heapBytes();
    }

    /** The latest state is dropped: only unfinished responses keep it. */
    private void forgetStates() {
        Window held = window;
        if (held != null) {
            kept.replace(held.latest().heapBytes());
            window = null;
        }
    }

    private void drop(String reason) {
        LOG.atWarn()
                .addKeyValue("revision", revision)
                .addKeyValue("cause", reason)
                .log("replica dropped");
        Condition.Dropped why = new Condition.Dropped(reason);
        exceeding = merge == null ? 0 : merge.heapBytes();
        retryNanos = merge == null ? nextRetry() : null;
        merge = null;
        forgetStates();
        condition = why;
        log.forgetPrevious();
        requireRoom();
        listener.dropped(why);
    }

    private Long nextRetry() {
        return System.nanoTime() + settings.retryInterval().toNanos();
    }

    /** Dropped, without a rebuild under way. */
    private boolean isGivenUp() {
        return condition instanceof Condition.Dropped && merge == null;
    }

    /** Returns the revision that the commits have reached; fails unless they may continue. */
    private Revision requireTail(Position position) {
        Revision reached = revision;
        if (reached == null || merge != null) {
            throw new ReplicaDivergedException("commit or progress at revision " + position.revision()
                    + (reached == null ? " before the first snapshot" : " during a snapshot"));
        }
        requireSameCluster(position.cluster());
        return reached;
    }

    private SnapshotMerge running() {
        if (merge == null) {
            throw new ReplicaDivergedException("page or end of a snapshot that was not started");
        }
        return merge;
    }

    private void requireSameCluster(ClusterId found) {
        ClusterId known = cluster;
        if (known != null && !known.equals(found)) {
            throw new ReplicaDivergedException(
                    "feed reads cluster " + found + ", but the replica is of cluster " + known);
        }
    }

    private void requireInside(ByteString key, Revision at) {
        if (!range.contains(key)) {
            throw new ReplicaDivergedException("change outside the replica's range at revision " + at);
        }
    }
}
