package io.understudy.feed.etcd;

import io.understudy.etcd.ClusterView;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.Health;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedConsumer;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.AnotherHistory;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedMetrics;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.FeedStart.UnfinishedSnapshot;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * The feed of an etcd cluster. In turns:
 *
 * <ol>
 *   <li><em>snapshot</em>: a revision is pinned by a read index, its pages are read from a learner;
 *   <li><em>opening</em>: one watch on a voter, at the last known commit, which must be found there;
 *   <li><em>tail</em>: commits and progress until the watch is lost, then opening again; two watches during a
 *       {@linkplain TailMove move} to the leader.
 * </ol>
 *
 * <p>The snapshot is complete only once its tail is open: the consumer is never at a revision that nothing can follow.
 *
 * <p>A feed without a position starts with a snapshot; one that need not replay all history, and is far behind on
 * opening, takes another.
 *
 * <p>Unless {@link FeedKind#TRANSIENT}, a feed pins its snapshot by the last commit before it, unless it is small.
 * Another feed can then continue it, if it finds that commit again when the tail opens.
 *
 * <p>Invariant F13: a continued snapshot gives the rest at the same revision of the same history, or another one
 * starts.
 *
 * <p>Invariant F8: compaction restarts an unfinished snapshot, and is a gap if it removed commits not yet delivered.
 */
final class EtcdFeed implements Feed {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdFeed.class);

    /** Interval in which etcd syncs unsynced watchers; it sends no progress before. */
    private static final Duration REPLAY_INTERVAL = Duration.ofMillis(100);

    /** Time after which a verified source may have changed its history. */
    private static final Duration RECOGNISED_FOR = Duration.ofSeconds(5);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final EtcdCluster cluster;
    private final KeyRange range;
    private final FeedKind kind;
    private final EtcdFeedOptions options;
    private final FeedMetrics metrics;
    private final LongSupplier clock;
    private final Backoff backoff = new Backoff();
    /** Backoff of restarted snapshots, between which requests succeed. */
    private final Backoff restarts = new Backoff();

    private final SnapshotPin pin;
    private final TailKeeper tail;
    private final CountDownLatch closing = new CountDownLatch(1);
    private final long openedNanos = System.nanoTime();

    /** The consumer's position; during a snapshot, the one at its end. Null before the first pinned revision. */
    private @Nullable Position position;
    /** Whether a snapshot was begun and not completed. */
    private boolean snapshotDue;
    /** Whether the history was just verified as the consumer's, but is too long to replay. */
    private boolean recognised;

    private long recognisedNanos;
    /** Whether opening the tail ahead of this snapshot's end was attempted. */
    private boolean tailBegun;
    /** Whether a large commit prevents opening a watch before the snapshot. */
    private boolean unanchored;
    /** The commit that the next snapshot replaces; null if there is none. */
    private @Nullable Revision passed;
    /** The large commit before which the history was verified again. */
    private @Nullable Revision verifiedAgain;

    private volatile @Nullable SnapshotReader snapshot;
    private @Nullable FeedEndedException end;

    /** Continued instead of starting another snapshot. */
    private @Nullable UnfinishedSnapshot unfinished;
    /** Whether the consumer holds an earlier feed's pages, so that the anchor must be found. */
    private boolean resumed;
    /** Deadline for finding the snapshot's anchor before its first page; null without a search. */
    private @Nullable Long anchorUntilNanos;

    /** The source's revision when the last snapshot was pinned; commits up to it are history. */
    private Revision present = Revision.ZERO;

    /** Distance before a snapshot's revision within which its newest entry may serve as anchor. */
    private long anchorSpan;

    /** @param clock nanoseconds, by which a verified history gets old */
    EtcdFeed(
            EtcdCluster cluster,
            KeyRange range,
            FeedKind kind,
            @Nullable FeedStart start,
            EtcdFeedOptions options,
            FeedMetrics metrics,
            LongSupplier clock) {
        this.cluster = cluster;
        this.kind = kind;
        this.range = range;
        this.position = start instanceof Position resumeAt ? resumeAt : null;
        this.unfinished = start instanceof UnfinishedSnapshot begun ? begun : null;
        this.snapshotDue = position == null;
        this.options = options;
        this.metrics = metrics;
        this.clock = clock;
        this.pin = new SnapshotPin(cluster, range, options, backoff);
        this.tail = new TailKeeper(
                cluster, range, false, kind == FeedKind.HISTORY, false, options, options.watch(), metrics, backoff);
    }

    @Override
    public boolean poll(Duration timeout, FeedConsumer consumer) throws FeedEndedException, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        try {
            do {
                if (end != null) {
                    throw end;
                }
                requireOpen();
                if (step(deadline, consumer)) {
                    return true;
                }
            } while (System.nanoTime() < deadline);
            return false;
        } catch (FeedEndedException e) {
            if (end == null) {
                LOG.atWarn()
                        .addKeyValue("cluster", cluster.settings().name())
                        .addKeyValue("kind", e.getClass().getSimpleName())
                        .addKeyValue("cause", e.getMessage())
                        .log("feed ended");
                metrics.ended(e);
                end = e;
                close();
            }
            throw e;
        } catch (RuntimeException | Error e) {
            // The consumer may have lost what it was given: continuing could skip a commit.
            close();
            throw e;
        }
    }

    @Override
    public void requestProgress() {
        tail.requestProgress();
    }

    @Override
    public void close() {
        closing.countDown();
        pin.close();
        SnapshotReader reader = snapshot;
        if (reader != null) {
            reader.close();
        }
        tail.close();
    }

    /** Advances the feed by one step. Returns whether the consumer was called. */
    private boolean step(long deadline, FeedConsumer consumer) throws FeedEndedException, InterruptedException {
        if (!pauseIsOver(deadline)) {
            return false;
        }
        Position standing = position;
        SnapshotReader reader = snapshot;
        if (!tail.isOpen() && !snapshotDue && standing != null) {
            requireAnchor(standing);
        }
        if (snapshotDue && reader == null) {
            if (cluster.view().clusterId() != null) {
                prefetchSnapshot();
            }
            if (!isSourceKnown(deadline)) {
                return false;
            }
            String problem = cluster.watchProblem().orElse(null);
            if (problem != null) {
                throw new Unexplained(problem);
            }
            return pinSnapshot(standing, deadline, consumer);
        }
        if (reader != null && standing != null && anchorUntilNanos != null) {
            return findAnchor(reader, standing, anchorUntilNanos, deadline, consumer);
        }
        if (reader != null && !reader.isDone()) {
            return readPage(reader, deadline, consumer);
        }
        if (standing == null) {
            throw new IllegalStateException("no position and no snapshot scheduled");
        }
        try {
            return follow(standing, remaining(deadline), consumer);
        } catch (LargeCommitException e) {
            passBy(standing, e);
            return false;
        } catch (AnotherHistory e) {
            if (!resumed) {
                throw e;
            }
            restartSnapshot(String.valueOf(e.getMessage()));
            return false;
        } catch (Gap e) {
            if (snapshotDue) {
                afterCompactedOpening(standing);
                return false;
            }
            boolean nothingLost = !e.compacted().isAfter(standing.revision().next());
            if (kind != FeedKind.HISTORY && nothingLost) {
                compareState(standing, "commit for history check was compacted");
                return false;
            }
            throw e;
        }
    }

    /** Skips a too large commit by a snapshot, unless the last one includes it. */
    private void passBy(Position standing, LargeCommitException e) throws Gap {
        Revision revision = e.commit().revision();
        unanchored = true;
        if (!snapshotDue) {
            if (kind == FeedKind.HISTORY && !e.isRecognised()) {
                throw new Gap(standing, revision.next(), String.valueOf(e.getMessage()));
            }
            recognised = e.isRecognised();
            recognisedNanos = clock.getAsLong();
            passed = revision;
            compareState(standing, String.valueOf(e.getMessage()));
        } else if (resumed || revision.isAfter(standing.revision())) {
            restartSnapshot(String.valueOf(e.getMessage()));
        } else {
            tail.drop();
            position = new Position(standing.cluster(), standing.revision(), null);
        }
    }

    private boolean follow(Position standing, Duration patience, FeedConsumer consumer)
            throws LargeCommitException, FeedEndedException, InterruptedException {
        boolean replaying = standing.revision().isBefore(present);
        if (!tail.isOpen() && !snapshotDue && mayCompare(standing, newestKnown())) {
            prefetchSnapshot();
        }
        boolean hurried = replaying && patience.compareTo(REPLAY_INTERVAL) > 0;
        TailEvent event = tail.next(standing, this::recognition, hurried ? REPLAY_INTERVAL : patience);
        if (event == null && replaying) {
            // The last of history may be outside the range, and the replay should not wait for that.
            tail.requestProgress();
        }
        return event != null && deliver(event, consumer);
    }

    /** Whether history up to {@code head} is too long to be replayed. */
    private boolean mayCompare(Position standing, long head) {
        return kind != FeedKind.HISTORY
                && head - Math.max(standing.revision().value(), present.value()) > options.catchUpRevisions();
    }

    /** The newest revision by the members' last probes, available before the tail is open. */
    private long newestKnown() {
        return cluster.view().members().stream()
                .mapToLong(member -> member.revision().value())
                .max()
                .orElse(0);
    }

    private Recognition recognition(Position standing) {
        SnapshotReader reader = snapshot;
        if (unanchored && standing.anchor() == null) {
            return newestKnown() > standing.revision().value()
                    ? Recognition.following(standing)
                    : Recognition.followingLive(standing);
        }
        return reader == null || standing.anchor() != null
                ? Recognition.resuming(standing)
                : Recognition.afterSnapshot(standing, reader.newest(), anchorSpan);
    }

    /**
     * Requires a recent anchor; without it, held state is compared with a snapshot instead. An old anchor does not
     * suffice, since etcd would read the history in between at the cost of its writers.
     */
    private void requireAnchor(Position standing) throws Gap {
        Position.Anchor anchor = standing.anchor();
        if (kind == FeedKind.HISTORY) {
            if (anchor == null) {
                throw new Gap(standing, Revision.ZERO, "no known commit in the range to verify the history");
            }
        } else if (anchor == null
                || standing.revision().value() - anchor.revision().value() > options.catchUpRevisions()) {
            compareState(standing, "no recent known commit to verify the history");
        }
    }

    private void compareState(Position standing, String why) {
        LOG.atInfo()
                .addKeyValue("revision", standing.revision())
                .addKeyValue("cause", why)
                .log("comparing full state");
        tail.drop();
        snapshotDue = true;
    }

    /** Compacted before the tail was open: the consumer is not at the snapshot yet. */
    private void afterCompactedOpening(Position standing) {
        if (!resumed && (anchorSpan > 0 || standing.anchor() != null)) {
            tail.drop();
            anchorSpan = 0;
            position = new Position(standing.cluster(), standing.revision(), null);
        } else {
            restartSnapshot("revision " + standing.revision() + " was compacted before the watch was open");
        }
    }

    private boolean pinSnapshot(@Nullable Position standing, long deadline, FeedConsumer consumer)
            throws FeedEndedException, InterruptedException {
        ReadIndex pinned = pin.look(standing, remaining(deadline));
        if (pinned == null) {
            requireOpen();
            return false;
        }
        UnfinishedSnapshot begun = unfinished;
        unfinished = null;
        if (begun != null
                && begun.pin().cluster().equals(pinned.clusterId())
                && !pinned.revision().isBefore(begun.pin().revision())) {
            resumeSnapshot(begun, consumer);
            return true;
        }
        Revision large = passed;
        if (recognised && !isRecognised() && large != null && !large.equals(verifiedAgain)) {
            // Only a verified history lets the consumer delete what the commit deleted.
            verifiedAgain = large;
            snapshotDue = false;
            return false;
        }
        return startSnapshot(pinned, consumer);
    }

    /** Prefetches pages only where all members are known: a voter might serve them otherwise. */
    private void prefetchSnapshot() {
        boolean rest = unfinished != null;
        pin.prefetch(() -> !rest && areMembersKnown());
    }

    private void resumeSnapshot(UnfinishedSnapshot begun, FeedConsumer consumer) {
        present = begun.pin().revision();
        position = begun.pin();
        resumed = true;
        use(pin.readRest(begun));
        LOG.atInfo()
                .addKeyValue("cluster", begun.pin().cluster())
                .addKeyValue("revision", begun.pin().revision())
                .log("snapshot resumed");
        consumer.snapshotResumed(begun.pin());
    }

    private void use(SnapshotReader reader) {
        snapshot = reader;
        tailBegun = false;
        if (closing.getCount() == 0) {
            reader.close();
        }
    }

    /** @return whether the consumer was called; it is called later if the snapshot's anchor is searched first */
    private boolean startSnapshot(ReadIndex index, FeedConsumer consumer) {
        present = index.revision();
        anchorSpan = options.catchUpRevisions();
        position = new Position(index.clusterId(), present, null);
        resumed = false;
        use(pin.read(index));
        metrics.snapshotStarted();
        LOG.atInfo()
                .addKeyValue("cluster", cluster.settings().name())
                .addKeyValue("cluster_id", index.clusterId())
                .addKeyValue("revision", present)
                .log("snapshot started");
        if (kind != FeedKind.TRANSIENT && !unanchored) {
            anchorUntilNanos = System.nanoTime() + options.requestTimeout().toNanos();
            return false;
        }
        startSnapshot(position, consumer);
        return true;
    }

    private boolean isRecognised() {
        return recognised && clock.getAsLong() - recognisedNanos <= RECOGNISED_FOR.toNanos();
    }

    private void startSnapshot(Position at, FeedConsumer consumer) {
        if (isRecognised()) {
            consumer.historyRecognised();
            Revision replaced = passed;
            if (replaced != null) {
                consumer.commitReplaced(replaced);
            }
        }
        recognised = false;
        passed = null;
        if (at.anchor() != null) {
            consumer.snapshotPinned(at);
        }
        consumer.snapshotStarted(at.cluster(), at.revision());
    }

    /**
     * Finds the last commit up to the snapshot, for later verification of its history. Skipped once the snapshot is
     * read.
     */
    private boolean findAnchor(
            SnapshotReader reader, Position standing, long untilNanos, long deadline, FeedConsumer consumer)
            throws FeedEndedException, InterruptedException {
        Position found = standing;
        if (!reader.isRead() && System.nanoTime() < untilNanos) {
            // Every revision is a commit of the whole key space.
            long span = range.isAll() ? 0 : anchorSpan;
            try {
                long wait = Math.min(LOOK_NANOS, remaining(deadline).toNanos());
                TailEvent event = tail.next(standing, at -> Recognition.anchoring(at, span), Duration.ofNanos(wait));
                if (!(event instanceof TailEvent.Opened opened)) {
                    return false;
                }
                found = opened.position();
            } catch (LargeCommitException e) {
                tail.drop();
                unanchored = true;
            } catch (Gap e) {
                tail.drop();
                long readable = standing.revision().value() - e.compacted().value() - 1;
                if (readable >= 0 && readable < span) {
                    anchorSpan = readable;
                    return false;
                }
            }
        }
        tail.drop();
        anchorUntilNanos = null;
        position = found;
        startSnapshot(found, consumer);
        return true;
    }

    private boolean readPage(SnapshotReader reader, long deadline, FeedConsumer consumer)
            throws FeedEndedException, InterruptedException {
        try {
            SnapshotReader.Page page = reader.next(remaining(deadline));
            if (page == null) {
                return false;
            }
            metrics.snapshotPage(page.entries().size());
            Position standing = position;
            if (reader.isRead() && !tailBegun && standing != null) {
                // Its round trip passes while the consumer works on the last pages.
                tailBegun = true;
                tail.open(standing, this::recognition);
            }
            consumer.snapshotPage(page.covered(), page.entries());
            return true;
        } catch (SnapshotReader.CompactedException e) {
            restartSnapshot("snapshot revision was compacted during the read");
            return false;
        }
    }

    private boolean deliver(TailEvent event, FeedConsumer consumer) {
        if (event instanceof TailEvent.Opened opened) {
            return opened(opened, consumer);
        }
        if (event instanceof TailEvent.Committed committed) {
            position = committed.position();
            if (passed != null && !position.revision().isBefore(passed)) {
                // The second verification delivered it.
                passed = null;
                recognised = false;
                unanchored = false;
            }
            metrics.committed(committed.commit());
            consumer.commit(committed.commit(), committed.position());
            return true;
        }
        position = ((TailEvent.Marked) event).position();
        metrics.complete(position.revision());
        consumer.progress(position);
        return true;
    }

    private boolean opened(TailEvent.Opened opened, FeedConsumer consumer) {
        position = opened.position();
        if (snapshotDue) {
            snapshotDue = false;
            resumed = false;
            unanchored = false;
            snapshot = null;
            restarts.succeeded();
            metrics.complete(position.revision());
            consumer.snapshotCompleted(position);
            return true;
        }
        if (mayCompare(opened.position(), opened.head().value())) {
            LOG.atInfo()
                    .addKeyValue("revision", opened.position().revision())
                    .addKeyValue("head", opened.head())
                    .addKeyValue("limit", options.catchUpRevisions())
                    .log("watch too far behind to replay; comparing state");
            tail.drop();
            snapshotDue = true;
            Position.Anchor anchor = opened.position().anchor();
            // What came after it, and not to the consumer, has not been seen.
            recognised =
                    anchor != null && anchor.revision().equals(opened.position().revision());
            recognisedNanos = clock.getAsLong();
            return false;
        }
        pin.forget();
        if (kind != FeedKind.HISTORY) {
            return false;
        }
        // Shows the verified history before the next commit, which takes etcd minutes if it is large.
        consumer.progress(position);
        return true;
    }

    private void restartSnapshot(String why) {
        LOG.atLevel(restarts.isFirst() ? Level.INFO : Level.DEBUG)
                .addKeyValue("cause", why)
                .log("snapshot restarted");
        recognised = false;
        restarts.failed();
        tail.drop();
        SnapshotReader reader = snapshot;
        if (reader != null) {
            reader.close();
        }
        snapshot = null;
        snapshotDue = true;
        anchorUntilNanos = null;
        if (resumed) {
            // Only the consumer can decide what another history means to it.
            position = null;
            resumed = false;
        }
    }

    /**
     * Whether the members are known: otherwise a voter might be read in the learner's place. True after a request
     * timeout.
     */
    private boolean isSourceKnown(long deadline) throws InterruptedException {
        if (areMembersKnown()
                || System.nanoTime() - openedNanos > options.requestTimeout().toNanos()) {
            return true;
        }
        long wait = Math.min(LOOK_NANOS, deadline - System.nanoTime());
        if (closing.await(Math.max(0, wait), TimeUnit.NANOSECONDS)) {
            requireOpen();
        }
        return false;
    }

    private boolean areMembersKnown() {
        ClusterView view = cluster.view();
        return view.clusterId() != null
                && view.unidentified().isEmpty()
                // Members without an address are never probed.
                && view.members().stream()
                        .noneMatch(member -> !member.addresses().isEmpty() && member.health() == Health.UNKNOWN);
    }

    private boolean pauseIsOver(long deadline) throws InterruptedException {
        long until = Math.max(backoff.untilNanos(), restarts.untilNanos());
        long wait = Math.min(until, deadline) - System.nanoTime();
        if (wait > 0 && closing.await(wait, TimeUnit.NANOSECONDS)) {
            requireOpen();
        }
        return System.nanoTime() >= until;
    }

    private void requireOpen() {
        if (closing.getCount() == 0) {
            tail.drop();
            throw new IllegalStateException("feed is closed");
        }
    }

    private static Duration remaining(long deadline) {
        return Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
    }
}
