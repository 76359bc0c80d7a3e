package io.understudy.feed.etcd;

import io.understudy.etcd.ClusterView;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.Health;
import io.understudy.etcd.Member;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Moves a tail to the leader and, with the leadership, to its successors. The leader reads hardly any history for it:
 * only a tail at a commit is moved, no further back than the leader was at its last probe. The next tail is open before
 * the last is closed; if it can't be opened, the last continues.
 *
 * <p>A leader where that fails, or that soon loses the tail, is not tried for a time that doubles.
 *
 * <p>Used by the feed's thread; {@link #close} is thread-safe.
 *
 * <p>Invariant F7: a watch on the leader follows the leadership, and no commit is missed or repeated when the leader
 * fails.
 */
final class TailMove implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdFeed.class);

    /** The members are looked at no more often by default. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long FIRST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Duration after which a lost tail does not count as a failure. */
    private static final long LAST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(30);

    /** A tail and its endpoint. */
    record Placed(Tail tail, Endpoint member) {}

    private final EtcdCluster cluster;
    private final long patienceNanos;
    private long lookNanos = System.nanoTime();
    private long pauseNanos = FIRST_PAUSE_NANOS;
    /** When the next tail was begun; once it is open, when it was taken over. */
    private long sinceNanos;

    private volatile @Nullable Placed opening;
    private volatile boolean closed;

    /** @param patience how long the next tail may take to open */
    TailMove(EtcdCluster cluster, Duration patience) {
        this.cluster = cluster;
        this.patienceNanos = patience.toNanos();
    }

    /** Handles an event of the tail at {@code serving}; starts a move if one is due. */
    void heard(TailEvent event, Endpoint serving, BiFunction<Endpoint, Position, Tail> opener) {
        long now = System.nanoTime();
        if (opening != null || now - lookNanos < 0 || !(event instanceof TailEvent.Committed committed)) {
            return;
        }
        lookNanos = now + LOOK_NANOS;
        Optional<Endpoint> leader = elsewhere(serving, committed.commit().revision());
        if (leader.isPresent()) {
            sinceNanos = now;
            opening = new Placed(opener.apply(leader.get(), committed.position()), leader.get());
            if (closed) {
                abandon();
            }
        }
    }

    /**
     * The tail to continue with, or null if there is none. It may repeat events since it was opened.
     *
     * @throws FeedEndedException the leader has another history, or another cluster ID
     */
    @Nullable Placed ready() throws FeedEndedException, InterruptedException {
        Placed begun = opening;
        if (begun == null) {
            return null;
        }
        if (System.nanoTime() - sinceNanos > patienceNanos) {
            // Before the tail checks it: that takes requests, and the one that is open has commits to deliver
            // meanwhile.
            failed(begun, "watch did not open in time");
            return null;
        }
        try {
            // The first event of a tail is that it is open.
            if (begun.tail().next(Duration.ZERO) == null) {
                return null;
            }
            opening = null;
            sinceNanos = System.nanoTime();
            return begun;
        } catch (TailLostException | LargeCommitException | Gap | Unexplained e) {
            failed(begun, String.valueOf(e.getMessage()));
            return null;
        }
    }

    /** Handles the loss of the tail that was moved last. */
    void lost() {
        if (System.nanoTime() - sinceNanos > LAST_PAUSE_NANOS) {
            pauseNanos = FIRST_PAUSE_NANOS;
        }
        pause();
    }

    /** Abandons the move in progress. */
    void abandon() {
        Placed begun = opening;
        if (begun != null) {
            begun.tail().close();
        }
        opening = null;
    }

    @Override
    public void close() {
        closed = true;
        Placed begun = opening;
        if (begun != null) {
            begun.tail().close();
        }
    }

    private void failed(Placed begun, String why) {
        abandon();
        if (!closed) {
            LOG.atLevel(pauseNanos == FIRST_PAUSE_NANOS ? Level.INFO : Level.DEBUG)
                    .addKeyValue("member", begun.member())
                    .addKeyValue("cause", why)
                    .log("watch not moved to the leader");
            pause();
        }
    }

    private void pause() {
        lookNanos = System.nanoTime() + pauseNanos;
        pauseNanos = Math.min(LAST_PAUSE_NANOS, 2 * pauseNanos);
    }

    /** The leader's endpoint, if it isn't {@code serving} and was not beyond {@code standing}. */
    private Optional<Endpoint> elsewhere(Endpoint serving, Revision standing) {
        ClusterView view = cluster.view();
        Optional<Member> leader = view.leader()
                .filter(member -> !member.endpoints().contains(serving))
                .filter(member -> member.version().watchFault().isEmpty())
                .filter(member -> !standing.isBefore(member.revision()));
        return leader.flatMap(member -> member.addresses().stream()
                .filter(address -> address.health() == Health.HEALTHY)
                .map(Member.Address::endpoint)
                .findFirst());
    }
}
