package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedSource;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.Merge.SortedEntries;
import io.understudy.mirror.verify.NotComparable.Why;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The state that a feed delivers, under the target's key names. It is that of the feed's snapshot, then of any later
 * revision, for sources that are not readable at a revision. Held in memory. One thread.
 */
final class FedState implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(200);

    /** Timeout of the next event, from the last progress of reading the topic's state on. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final String side;
    private final MirrorScope scope;
    private final Feed feed;
    private final Duration patience;
    private final TreeMap<ByteString, KeyValue> entries = new TreeMap<>(KeyRange.KEY_ORDER);
    private @Nullable Position position;
    /** A received commit that is not part of the state yet. */
    private @Nullable Commit next;

    private FedState(String side, MirrorScope scope, FeedSource source, Duration patience) {
        this.patience = patience;
        this.side = side;
        this.scope = scope;
        this.feed = source.open(scope.feedRange(false), FeedKind.STATE, null);
    }

    /**
     * Reads the snapshot.
     *
     * @param side name of the side, for errors
     */
    static FedState open(String side, MirrorScope scope, FeedSource source)
            throws IncomparableException, InterruptedException {
        return open(side, scope, source, PATIENCE);
    }

    static FedState open(String side, MirrorScope scope, FeedSource source, Duration patience)
            throws IncomparableException, InterruptedException {
        FedState state = new FedState(side, scope, source, patience);
        try {
            while (state.position == null) {
                state.poll();
            }
            return state;
        } catch (IncomparableException | InterruptedException | RuntimeException e) {
            state.close();
            throw e;
        }
    }

    ClusterId cluster() {
        return position().cluster();
    }

    Revision revision() {
        return position().revision();
    }

    /** Reads up to that revision of the source; no-op if the snapshot is later. */
    void advanceTo(Revision revision) throws IncomparableException, InterruptedException {
        Revision reached = revision();
        long reachedNanos = System.nanoTime();
        while (revision().isBefore(revision)) {
            Commit waiting = next;
            if (waiting == null) {
                poll();
                if (revision().isAfter(reached)) {
                    reached = revision();
                    reachedNanos = System.nanoTime();
                } else if (next == null && System.nanoTime() - reachedNanos >= patience.toNanos()) {
                    // Marks, which it also sends while nothing is written, are no progress.
                    throw new IncomparableException(
                            Why.UNAVAILABLE,
                            "the " + side + " stays at revision " + reached + ", before " + revision
                                    + " of the target");
                }
            } else if (waiting.revision().isAfter(revision)) {
                return;
            } else {
                apply(waiting);
                next = null;
            }
        }
    }

    /** Returns all entries in key order. */
    SortedEntries entries() {
        Iterator<KeyValue> each = entries.values().iterator();
        return () -> each.hasNext() ? each.next() : null;
    }

    @Override
    public void close() {
        feed.close();
    }

    private Position position() {
        Position current = position;
        if (current == null) {
            throw new IllegalStateException("snapshot is not complete");
        }
        return current;
    }

    private void poll() throws IncomparableException, InterruptedException {
        long read = feed.stateRead();
        long progressNanos = System.nanoTime();
        try {
            while (!feed.poll(POLL, new Reading())) {
                if (feed.stateRead() > read) {
                    read = feed.stateRead();
                    progressNanos = System.nanoTime();
                } else if (System.nanoTime() - progressNanos >= patience.toNanos()) {
                    throw new IncomparableException(
                            Why.UNAVAILABLE,
                            "the " + side + " sent nothing for " + patience.toSeconds()
                                    + " s: it is unavailable, or its snapshot is not complete");
                }
            }
        } catch (FeedEndedException.AnotherCluster e) {
            throw new IncomparableException(Why.ANOTHER_CLUSTER, side + ": " + e.getMessage());
        } catch (FeedEndedException e) {
            throw new IncomparableException(Why.UNAVAILABLE, side + ": " + e.getMessage());
        }
    }

    private void apply(Commit commit) {
        for (Change change : commit.changes()) {
            if (!scope.contains(change.key())) {
                continue;
            }
            if (change instanceof Change.Put put) {
                add(put.keyValue());
            } else {
                entries.remove(scope.inTarget(change.key()));
            }
        }
        position = new Position(cluster(), commit.revision(), null);
    }

    private void add(KeyValue entry) {
        KeyValue named = scope.inTarget(entry);
        entries.put(named.key(), named);
    }

    private final class Reading implements FeedConsumer {

        @Override
        public void snapshotStarted(ClusterId cluster, Revision revision) {
            entries.clear();
            position = null;
            next = null;
        }

        @Override
        public void snapshotPage(KeyRange covered, List<KeyValue> page) {
            page.stream().filter(entry -> scope.contains(entry.key())).forEach(FedState.this::add);
        }

        @Override
        public void snapshotCompleted(Position reached) {
            position = reached;
        }

        @Override
        public void commit(Commit commit, Position reached) {
            next = commit;
        }

        @Override
        public void progress(Position reached) {
            position = reached;
        }
    }
}
