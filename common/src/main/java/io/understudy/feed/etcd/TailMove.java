package io.understudy.feed.etcd;

import io.understudy.etcd.ClusterView;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.Member;
import io.understudy.etcd.Role;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Takes a tail to the leader, and after the leadership when that goes elsewhere. The leader doesn't read history for it: only
 * a tail that is level with its member, and stands at a commit, is taken on. There is no moment without one either: the next
 * is open before the last is given up, and if it can't be opened, the last goes on.
 *
 * <p>Used by the feed's thread; {@link #close} from any.
 */
final class TailMove implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdFeed.class);

    /** The members are looked at no more often by default. */
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Opens a tail. */
    interface Opener {
        /** At {@code member}, after {@code standing}. */
        Tail open(Endpoint member, Position standing);
    }

    /** A tail, and where it is. */
    record Placed(Tail tail, Endpoint member) {}

    private final EtcdCluster cluster;
    private final Backoff backoff = new Backoff();
    private Revision head = Revision.ZERO;
    private long lookNanos = System.nanoTime();
    private volatile @Nullable Placed opening;
    private volatile boolean closed;

    TailMove(EtcdCluster cluster) {
        this.cluster = cluster;
    }

    /** What the tail at {@code serving} told: begins to move it, if it is time to. */
    void heard(TailEvent event, Endpoint serving, Opener opener) {
        if (event instanceof TailEvent.Opened opened) {
            head = opened.head();
            return;
        }
        if (opening != null || !(event instanceof TailEvent.Committed committed)) {
            return;
        }
        long now = System.nanoTime();
        if (now - lookNanos < 0
                || now - backoff.untilNanos() < 0
                || committed.commit().revision().isBefore(head)) {
            return;
        }
        lookNanos = now + LOOK_NANOS;
        Optional<Endpoint> leader = elsewhere(serving);
        if (leader.isPresent()) {
            opening = new Placed(opener.open(leader.get(), committed.position()), leader.get());
            if (closed) {
                abandon();
            }
        }
    }

    /**
     * The tail to go on with instead, or null if there is none. It may tell again what came between its opening and now.
     *
     * @throws FeedEndedException the leader tells another history
     */
    @Nullable Placed ready() throws FeedEndedException, InterruptedException {
        Placed begun = opening;
        if (begun == null) {
            return null;
        }
        try {
            // The first event of a tail is that it is open.
            if (!(begun.tail().next(Duration.ZERO) instanceof TailEvent.Opened opened)) {
                return null;
            }
            head = opened.head();
            backoff.succeeded();
            opening = null;
            return begun;
        } catch (TailLostException | Gap e) {
            LOG.atLevel(backoff.isFirst() ? Level.INFO : Level.DEBUG)
                    .log("tail not moved, member={} cause=\"{}\"", begun.member(), e.getMessage());
            backoff.failed();
            abandon();
            return null;
        }
    }

    /** Gives up what was begun. */
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

    /** Where the leader is, if that isn't {@code serving}. */
    private Optional<Endpoint> elsewhere(Endpoint serving) {
        ClusterView view = cluster.view();
        MemberId leader = view.leaderId();
        if (leader == null || leads(view, serving, leader)) {
            return Optional.empty();
        }
        return cluster.endpointsFor(Duty.WATCH).stream()
                .filter(endpoint -> leads(view, endpoint, leader))
                .findFirst();
    }

    private static boolean leads(ClusterView view, Endpoint endpoint, MemberId leader) {
        Optional<Member> member = view.memberAt(endpoint);
        return member.isPresent()
                && member.get().id().equals(leader)
                && member.get().role() == Role.VOTER
                && member.get().version().watchIsReliable();
    }
}
