package io.understudy.feed.etcd;

import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.feed.FeedMetrics;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The commits of an etcd cluster from a past revision on, each once, in order. They come from one watch on one member
 * at a time (a gateway or follower, if there is one), which is reopened elsewhere when it is lost. The reader sets the
 * pace.
 *
 * <p>Not thread-safe, except {@link #close}.
 *
 * <p>Invariant F6: past commits are read whole, in order and once, not from a leader with followers; compaction is
 * reported with the compact revision.
 */
public final class EtcdHistory implements AutoCloseable {

    /** An event of the history. */
    public sealed interface Step {

        /**
         * The next commit.
         *
         * @param previous previous values of its keys, if requested; without those that were compacted
         */
        record Committed(Commit commit, List<KeyValue> previous) implements Step {}

        /** No further commits inside the range up to that revision. */
        record Complete(Revision revision) implements Step {}
    }

    private final EtcdCluster cluster;
    private final Revision from;
    private final Backoff backoff = new Backoff();
    private final TailKeeper tail;
    private final CountDownLatch closing = new CountDownLatch(1);
    private @Nullable Position position;

    EtcdHistory(
            EtcdCluster cluster,
            KeyRange range,
            Revision from,
            boolean previous,
            EtcdFeedOptions options,
            FeedMetrics metrics) {
        if (from.value() < 1) {
            throw new IllegalArgumentException("history starts at revision 1, not " + from);
        }
        this.cluster = cluster;
        this.from = from;
        this.tail =
                new TailKeeper(cluster, range, previous, true, true, options, WatchedVoter.FOLLOWER, metrics, backoff);
    }

    /**
     * The next step, or null if none came in time. Losses of members and connections are survived, for as long as it
     * takes.
     *
     * @throws Gap the next commits were compacted, up to {@link Gap#compacted}
     * @throws FeedEndedException.CommitTooLarge the next commit is larger than is held
     * @throws FeedEndedException for good: another cluster or another history
     * @throws IllegalStateException it was closed
     */
    public @Nullable Step next(Duration timeout) throws FeedEndedException, InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        do {
            await(Math.min(backoff.untilNanos(), deadline));
            Position standing = standing();
            if (standing != null && System.nanoTime() - backoff.untilNanos() >= 0) {
                Step step = step(standing, Duration.ofNanos(Math.max(0, deadline - System.nanoTime())));
                if (step != null) {
                    return step;
                }
            }
        } while (System.nanoTime() - deadline < 0);
        return null;
    }

    @Override
    public void close() {
        closing.countDown();
        tail.close();
    }

    private @Nullable Step step(Position standing, Duration timeout) throws FeedEndedException, InterruptedException {
        TailEvent event;
        try {
            event = tail.next(standing, EtcdHistory::recognition, timeout);
        } catch (LargeCommitException e) {
            tail.drop();
            if (standing.anchor() == null || e.commit().revision().isAfter(standing.revision())) {
                throw e.commit();
            }
            position = new Position(standing.cluster(), standing.revision(), null);
            return null;
        } catch (Gap gap) {
            tail.drop();
            if (standing.anchor() == null
                    || gap.compacted().isAfter(standing.revision().next())) {
                throw gap;
            }
            // Nothing that is wanted is gone, only what the history would have been recognised by.
            position = new Position(standing.cluster(), standing.revision(), null);
            return null;
        }
        if (event instanceof TailEvent.Committed committed) {
            position = committed.position();
            return new Step.Committed(committed.commit(), committed.previous());
        }
        if (event instanceof TailEvent.Marked marked) {
            position = marked.position();
            return new Step.Complete(marked.position().revision());
        }
        return null;
    }

    private static Recognition recognition(Position standing) {
        return standing.anchor() == null ? Recognition.following(standing) : Recognition.resuming(standing);
    }

    /** Its position; null until the cluster is known. */
    private @Nullable Position standing() {
        if (position == null) {
            ClusterId id = cluster.view().clusterId();
            if (id == null) {
                backoff.failed();
            } else {
                position = new Position(id, new Revision(from.value() - 1), null);
            }
        }
        return position;
    }

    private void await(long untilNanos) throws InterruptedException {
        if (closing.await(Math.max(0, untilNanos - System.nanoTime()), TimeUnit.NANOSECONDS)) {
            tail.drop();
            throw new IllegalStateException("history reader is closed");
        }
    }
}
