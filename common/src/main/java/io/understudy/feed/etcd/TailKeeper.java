package io.understudy.feed.etcd;

import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Health;
import io.understudy.etcd.Member;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.feed.FeedMetrics;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Keeps one tail open: chooses its member, and after a loss the next one. Losses cause backoff and growing {@link
 * TailRetry}. On demand it {@linkplain TailMove moves} the tail to the leader. Used by the feed's thread; {@link
 * #close} and {@link #requestProgress} are thread-safe.
 */
final class TailKeeper implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(EtcdFeed.class);

    private final EtcdCluster cluster;
    private final KeyRange range;
    private final boolean previous;
    private final boolean isHistory;
    private final boolean servesWithoutLeader;
    private final EtcdFeedOptions options;
    private final SourceFacts facts;
    private final FeedMetrics metrics;
    private final Backoff backoff;
    private final @Nullable TailMove move;

    private final TailRetry initial;
    private TailRetry patience;
    /** Whether the open tail's member has no leader, so that it may miss commits. */
    private boolean isLeaderless;
    /** Whether the tail that is open was moved. */
    private boolean isMoved;

    private @Nullable Endpoint member;
    private volatile @Nullable Tail tail;
    private volatile boolean closed;

    /**
     * Opens nothing yet.
     *
     * @param previous whether commits include the previous values of their keys
     * @param isHistory whether the consumer needs each commit
     * @param servesWithoutLeader whether a member without a leader is read while there is no other
     * @param watch where commits are watched, once level
     */
    TailKeeper(
            EtcdCluster cluster,
            KeyRange range,
            boolean previous,
            boolean isHistory,
            boolean servesWithoutLeader,
            EtcdFeedOptions options,
            WatchedVoter watch,
            FeedMetrics metrics,
            Backoff backoff) {
        this.cluster = cluster;
        this.range = range;
        this.previous = previous;
        this.isHistory = isHistory;
        this.servesWithoutLeader = servesWithoutLeader;
        this.options = options;
        this.metrics = metrics;
        this.backoff = backoff;
        this.move = watch == WatchedVoter.LEADER ? new TailMove(cluster, options.stallTimeout()) : null;
        this.facts = new SourceFacts(cluster, options.requestTimeout());
        this.initial = TailRetry.initial(options.stallTimeout());
        this.patience = initial;
    }

    boolean isOpen() {
        return tail != null;
    }

    /**
     * The next event; null on timeout or after a loss.
     *
     * @param standing the consumer's position, used if a tail has to be opened
     * @param recognition how the history is verified at {@code standing}, likewise
     * @throws LargeCommitException until the tail is dropped and opened after that commit
     */
    @Nullable TailEvent next(Position standing, Function<Position, Recognition> recognition, Duration timeout)
            throws LargeCommitException, FeedEndedException, InterruptedException {
        try {
            // Members that cannot be reached are listed too, behind those that can.
            if (isLeaderless) {
                List<Endpoint> candidates = cluster.endpointsFor(Duty.WATCH);
                if (!candidates.isEmpty() && !is(best(candidates), Health.LEADERLESS)) {
                    drop();
                }
            }
            open(standing, recognition);
            switchTail();
            Tail open = tail;
            TailEvent event = open == null ? null : open.next(timeout);
            if (event == null || wasDelivered(event, standing)) {
                return null;
            }
            heard(event, recognition);
            return event;
        } catch (TailLostException e) {
            lost(e);
            return null;
        }
    }

    /** Requests a progress mark now, if a tail is open. */
    void requestProgress() {
        Tail open = tail;
        if (open != null) {
            open.requestProgress();
        }
    }

    /** Ends the tail, if one is open; the next event opens another, without fragments. */
    void drop() {
        Tail open = tail;
        if (open != null) {
            open.close();
        }
        tail = null;
        member = null;
        isMoved = false;
        patience = initial;
        if (move != null) {
            move.abandon();
        }
    }

    @Override
    public void close() {
        closed = true;
        if (move != null) {
            move.close();
        }
        Tail open = tail;
        if (open != null) {
            open.close();
        }
    }

    /** Opens the tail, unless one is open; {@link #next} waits for it. Does nothing while no member may be watched. */
    void open(Position standing, Function<Position, Recognition> recognition) throws FeedEndedException {
        if (tail != null) {
            return;
        }
        List<Endpoint> candidates = cluster.endpointsFor(Duty.WATCH);
        if (candidates.isEmpty()) {
            SourceFacts.requireOwnCluster(cluster, standing.cluster());
            backoff.failed();
            return;
        }
        Endpoint chosen = best(candidates);
        EtcdVersion version = versionAt(chosen);
        if (version.equals(EtcdVersion.UNKNOWN)) {
            // Neither its role nor its faults are known before the next probe.
            backoff.failed();
            return;
        }
        Optional<String> fault = version.watchFault();
        if (fault.isPresent()) {
            throw new Unexplained(chosen + " runs etcd " + version + ": " + fault.get() + "; upgrade it");
        }
        isLeaderless = servesWithoutLeader && is(chosen, Health.LEADERLESS);
        use(tailAt(chosen, standing, recognition), chosen);
    }

    /** The first endpoint with a version that serves watches correctly, else the first. */
    private Endpoint best(List<Endpoint> candidates) {
        return candidates.stream()
                .filter(candidate -> versionAt(candidate).watchFault().isEmpty())
                .findFirst()
                .orElse(candidates.get(0));
    }

    private Tail tailAt(Endpoint endpoint, Position standing, Function<Position, Recognition> recognition) {
        return new Tail(
                endpoint.toString(),
                cluster.channel(endpoint),
                range,
                previous,
                standing,
                recognition.apply(standing),
                isHistory,
                options,
                patience,
                !isLeaderless,
                facts);
    }

    private void use(Tail open, Endpoint at) {
        member = at;
        tail = open;
        if (closed) {
            open.close();
        }
    }

    private void switchTail() throws FeedEndedException, InterruptedException {
        TailMove.Placed better = move == null ? null : move.ready();
        Tail before = tail;
        if (better == null || before == null) {
            return;
        }
        LOG.atInfo()
                .addKeyValue("from", member)
                .addKeyValue("member", better.member())
                .log("watch moved to the leader");
        use(better.tail(), better.member());
        isMoved = true;
        before.close();
        // Progress requested of the last one may be lost with it.
        better.tail().requestProgress();
    }

    /** Whether the previous tail delivered it. */
    private static boolean wasDelivered(TailEvent event, Position standing) {
        if (event instanceof TailEvent.Committed committed) {
            return !committed.commit().revision().isAfter(standing.revision());
        }
        return event instanceof TailEvent.Marked marked
                && marked.position().revision().isBefore(standing.revision());
    }

    private void heard(TailEvent event, Function<Position, Recognition> recognition) {
        Endpoint serving = member;
        if (move != null && serving != null) {
            move.heard(event, serving, (endpoint, standing) -> tailAt(endpoint, standing, recognition));
        }
        if (event instanceof TailEvent.Opened opened) {
            LOG.atInfo()
                    .addKeyValue("member", member)
                    .addKeyValue("revision", opened.position().revision())
                    .addKeyValue("head", opened.head())
                    .log("watch opened");
            return;
        }
        // Only what comes after the opening proves that the member serves.
        backoff.succeeded();
        patience = initial;
        if (serving != null && event instanceof TailEvent.Marked) {
            cluster.reportSuccess(serving, Duty.WATCH);
        }
    }

    private void lost(TailLostException loss) {
        if (closed) {
            return;
        }
        LOG.atLevel(backoff.isFirst() ? Level.INFO : Level.DEBUG)
                .addKeyValue("member", member)
                .addKeyValue("reason", loss.reason())
                .addKeyValue("cause", loss.getMessage())
                .log("watch lost");
        metrics.reopened(loss.reason());
        TailRetry next = patience.after(loss.reason());
        Endpoint failed = member;
        if (failed != null) {
            cluster.reportFailure(failed, Duty.WATCH, loss);
        }
        if (move != null && isMoved) {
            move.lost();
        }
        drop();
        patience = next;
        if (failed != null && is(failed, Health.UNREACHABLE)) {
            backoff.missed();
        } else {
            backoff.failed();
        }
    }

    private boolean is(Endpoint endpoint, Health health) {
        return cluster.view().memberAt(endpoint).stream()
                .flatMap(known -> known.addresses().stream())
                .anyMatch(address -> address.endpoint().equals(endpoint) && address.health() == health);
    }

    /** Version of the endpoint's member, once known. */
    private EtcdVersion versionAt(Endpoint endpoint) {
        return cluster.view().memberAt(endpoint).map(Member::version).orElse(EtcdVersion.UNKNOWN);
    }

    /**
     * How a tail is opened after the ones before it failed.
     *
     * <p>Fragments are requested only after a response was too large, then until commits arrive or a snapshot starts: etcd
     * cuts a response in time quadratic in the events of a fragment ({@code sendFragments} in {@code v3rpc/watch.go}), so
     * that one commit of 200,000 deletions takes it a minute or more, and milliseconds unfragmented. A live response is
     * one commit anyway, it is a thousand commits of history, or of a consumer that fell behind, that can be too large.
     *
     * <p>The timeout grows with each tail in a row that stalled: etcd starts over with each watch, so a commit that takes
     * it longer than the timeout would never arrive.
     *
     * @param stallTimeout silence that is tolerated
     * @param fragments whether etcd may split responses
     */
    record TailRetry(Duration stallTimeout, boolean fragments, int stallsInARow) {

        private static final int MAX_DOUBLINGS = 4;
        /** etcd is silent for minutes before a fragment of a large commit. Keep-alives detect lost connections. */
        private static final int MAX_DOUBLINGS_OF_FRAGMENTS = 8;

        static TailRetry initial(Duration stallTimeout) {
            return new TailRetry(stallTimeout, false, 0);
        }

        /** The retry after a tail lost for {@code reason}. */
        TailRetry after(TailLostException.Reason reason) {
            return switch (reason) {
                case TOO_LARGE -> new TailRetry(stallTimeout, true, stallsInARow);
                case STALLED -> {
                    int most = fragments ? MAX_DOUBLINGS_OF_FRAGMENTS : MAX_DOUBLINGS;
                    yield new TailRetry(
                            stallsInARow < most ? stallTimeout.multipliedBy(2) : stallTimeout,
                            fragments,
                            stallsInARow + 1);
                }
                case STREAM_ENDED, BEHIND, CANCELED -> this;
            };
        }
    }
}
