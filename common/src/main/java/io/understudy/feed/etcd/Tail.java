package io.understudy.feed.etcd;

import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Channel;
import io.grpc.Status;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdFailure;
import io.understudy.etcd.Remedy;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.CommitTooLarge;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.feed.etcd.TailKeeper.TailRetry;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The commits after a position, from one watch on one member, until it is lost. The watch is opened at the anchor,
 * which is verified. It never resumes after a loss; the feed opens another tail.
 *
 * <p>Progress is requested on a quiet stream, so that a silent one is known to be stalled. Read by the feed's thread;
 * {@link #close} and {@link #requestProgress} are thread-safe.
 */
final class Tail implements AutoCloseable {

    /** Interval in which etcd syncs unsynced watchers; it sends no progress before. */
    private static final Duration OPENING_INTERVAL = Duration.ofMillis(100);

    /**
     * Limit of a fragmented commit where a snapshot can replace it. A request is smaller than this: only a deletion of
     * very many keys reaches it, and etcd takes minutes to split that.
     */
    private static final long MAX_FRAGMENTED_BYTES = 8L << 20;

    private final String where;
    private final Channel channel;
    private final KeyRange range;
    private final Duration progressInterval;
    private final Duration stallTimeout;
    private final SourceFacts facts;
    /** Opens a watch that starts at a revision. */
    private final Function<Revision, MemberWatchStream> watches;

    private volatile MemberWatchStream stream;
    private volatile boolean closed;
    private final CommitAssembler assembler = new CommitAssembler();
    private final long maxCommitBytes;
    private final boolean fragments;
    /** Whether the consumer needs each commit; a snapshot can replace one otherwise. */
    private final boolean isHistory;

    private final ArrayDeque<TailEvent> ready = new ArrayDeque<>();

    private record Whole(Commit commit, List<KeyValue> previous) {}

    private Position position;
    /** Null once the history was recognised. */
    private @Nullable Recognition opening;
    /** The member's revision when the watch was created; null before. */
    private @Nullable Revision head;
    /** The member's revision at which a watch without a start revision began; else zero. */
    private Revision liveSince = Revision.ZERO;
    /** Follows after all that is ready; null unless a commit is too large. */
    private @Nullable CommitTooLarge large;

    private long heardNanos;
    private long requestedNanos;
    private long polledNanos;

    Tail(
            String where,
            Channel channel,
            KeyRange range,
            boolean previous,
            Position position,
            Recognition recognition,
            boolean isHistory,
            EtcdFeedOptions options,
            TailRetry patience,
            boolean requiresLeader,
            SourceFacts facts) {
        this.where = where;
        this.channel = channel;
        this.range = range;
        this.progressInterval = options.progressInterval();
        this.stallTimeout = patience.stallTimeout();
        this.facts = facts;
        this.position = position;
        this.opening = recognition;
        this.isHistory = isHistory;
        this.maxCommitBytes = options.maxCommitBytes();
        this.fragments = patience.fragments();
        this.watches = start -> MemberWatchStream.open(
                channel, WatchMessages.create(range, start, previous, patience.fragments()), requiresLeader);
        this.stream = watches.apply(recognition.start());
        this.heardNanos = System.nanoTime();
        this.requestedNanos = heardNanos;
        this.polledNanos = heardNanos;
    }

    /**
     * The next event, or null if none came in time.
     *
     * @throws TailLostException this tail is over, the feed need not be
     * @throws LargeCommitException likewise, and no tail delivers the next commit
     * @throws FeedEndedException the feed is over
     */
    @Nullable TailEvent next(Duration timeout)
            throws TailLostException, LargeCommitException, FeedEndedException, InterruptedException {
        long now = System.nanoTime();
        if (!ready.isEmpty() || now - polledNanos > progressInterval.toNanos()) {
            // The consumer was busy: silence meanwhile is ours, not the member's.
            heardNanos = now;
        }
        long deadline = now + timeout.toNanos();
        while (ready.isEmpty()) {
            polledNanos = now;
            if (large != null) {
                throw new LargeCommitException(large, opening == null);
            }
            if (now - heardNanos > stallTimeout.toNanos()) {
                throw stalled();
            }
            long interval = (opening == null ? progressInterval : OPENING_INTERVAL).toNanos();
            long progressDue = Math.max(requestedNanos, heardNanos) + interval;
            if (now >= progressDue) {
                stream.requestProgress();
                requestedNanos = now;
                progressDue = now + interval;
            }
            MemberWatchStream.Signal signal =
                    stream.next(Duration.ofNanos(Math.max(0, Math.min(deadline, progressDue) - now)));
            now = System.nanoTime();
            if (signal instanceof MemberWatchStream.Signal.Message message) {
                long before = heardNanos;
                heardNanos = now;
                if (!receive(message.response())) {
                    heardNanos = before;
                }
            } else if (signal instanceof MemberWatchStream.Signal.Closed closed) {
                onClosed(closed.status());
            } else if (now >= deadline) {
                break;
            }
        }
        polledNanos = System.nanoTime();
        return ready.poll();
    }

    void requestProgress() {
        stream.requestProgress();
    }

    @Override
    public void close() {
        closed = true;
        stream.close();
    }

    /** @return whether it counts as activity: progress before the watch exists, or below the position, does not */
    private boolean receive(WatchResponse response) throws TailLostException, FeedEndedException {
        // A compacted cancel carries revision 0 and, below 3.5, no ids (v3rpc/watch.go).
        if (response.getCanceled()) {
            if (response.getCompactRevision() > 0) {
                throw compacted(new Revision(response.getCompactRevision()));
            }
            throw canceled(response.getCancelReason());
        }
        ClusterId cluster = new ClusterId(response.getHeader().getClusterId());
        if (!cluster.equals(position.cluster())) {
            throw facts.foreign(where, position.cluster(), cluster);
        }
        Revision reported = new Revision(response.getHeader().getRevision());
        if (response.getCreated()) {
            onCreated(reported);
            return true;
        }
        if (response.getEventsCount() == 0) {
            if (head == null) {
                // etcd may send progress before the creation of the watch: commits may precede it.
                return false;
            }
            if (opening != null && reported.isBefore(position.revision())) {
                head = reported;
                return false;
            }
            onProgress(reported);
            return true;
        }
        ArrayDeque<Whole> commits = new ArrayDeque<>();
        try {
            assembler.accept(response, limit(), (commit, previous) -> commits.add(new Whole(commit, previous)));
        } catch (CommitTooLarge e) {
            large = e;
        }
        for (Whole whole : commits) {
            onCommit(whole.commit(), whole.previous());
        }
        return true;
    }

    private void onCreated(Revision present) throws TailLostException, FeedEndedException {
        head = present;
        if (opening != null && opening.start().equals(Revision.ZERO)) {
            if (present.isAfter(position.revision())) {
                watchFromPosition();
                return;
            }
            if (present.isBefore(position.revision())) {
                throw new TailLostException(
                        TailLostException.Reason.BEHIND,
                        where + " is at revision " + present + ", the feed at " + position.revision());
            }
            liveSince = present;
            onProgress(present);
        }
    }

    /** Opens the watch again, after the position: the member is past it. */
    private void watchFromPosition() {
        stream.close();
        Recognition following = Recognition.following(position);
        opening = following;
        head = null;
        stream = watches.apply(following.start());
        if (closed) {
            stream.close();
        }
    }

    private long limit() {
        return fragments && isReplaceable() ? Math.min(maxCommitBytes, MAX_FRAGMENTED_BYTES) : maxCommitBytes;
    }

    /** Whether the consumer can do without the next commit, or has its effects. */
    private boolean isReplaceable() {
        return !isHistory || (opening != null && opening.dropsCommits());
    }

    private void onCommit(Commit commit, List<KeyValue> previous) throws TailLostException, FeedEndedException {
        Recognition recognition = opening;
        if (recognition != null && judged(recognition.onCommit(commit))) {
            return;
        }
        if (!commit.revision().isAfter(position.revision())) {
            if (!commit.revision().isAfter(liveSince)) {
                // etcd registers the watch first, and then reads the revision that it reports.
                return;
            }
            throw different("unexpected commit at revision " + commit.revision());
        }
        position = position.after(commit);
        ready.add(new TailEvent.Committed(commit, previous, position));
    }

    private void onProgress(Revision complete) throws TailLostException, FeedEndedException {
        Recognition recognition = opening;
        if (recognition != null && judged(recognition.onProgress(complete))) {
            return;
        }
        if (complete.isAfter(position.revision())) {
            position = position.upTo(complete);
        }
        ready.add(new TailEvent.Marked(position));
    }

    /** @return whether nothing of the judged event is delivered */
    private boolean judged(Recognition.Verdict verdict) throws TailLostException, FeedEndedException {
        if (verdict instanceof Recognition.Verdict.Different other) {
            throw different(other.why());
        }
        if (verdict instanceof Recognition.Verdict.Same same) {
            position = same.position();
            opening = null;
            ready.add(new TailEvent.Opened(position, head == null ? position.revision() : head));
            return same.dropped();
        }
        return true;
    }

    private FeedEndedException different(String why) throws TailLostException {
        return facts.differentHistory(where, channel, range, position, why);
    }

    private TailLostException stalled() throws FeedEndedException, InterruptedException {
        Revision known = head;
        if (opening != null && known != null && known.isBefore(position.revision())) {
            // Silent because it has not got there: lag, unless the cluster as a whole has gone back.
            facts.requireReached(position);
            return new TailLostException(
                    TailLostException.Reason.BEHIND,
                    where + " is at revision " + known + ", the feed at " + position.revision());
        }
        return new TailLostException(
                TailLostException.Reason.STALLED,
                where + " sent no watch response for " + stallTimeout.toMillis() + " ms");
    }

    private void onClosed(Status status) throws TailLostException, FeedEndedException {
        boolean isTooLarge = EtcdErrors.isMessageTooLarge(status);
        // Once live, a response is one commit.
        boolean isLive = opening == null && head != null && !position.revision().isBefore(head);
        boolean drops = opening != null && opening.dropsCommits();
        if (isTooLarge && !fragments && isReplaceable() && (isLive || drops)) {
            Revision next = drops && opening != null
                    ? opening.start()
                    : position.revision().next();
            large = new CommitTooLarge(next, "", maxCommitBytes, maxCommitBytes, "feed.maxCommitBytes");
            return;
        }
        EtcdFailure failure = EtcdErrors.classify(Duty.WATCH, status);
        if (failure.remedy() == Remedy.FATAL) {
            throw new Unexplained(where + " rejected the watch: " + failure, status.asException());
        }
        throw new TailLostException(
                isTooLarge ? TailLostException.Reason.TOO_LARGE : TailLostException.Reason.STREAM_ENDED,
                where + " closed the watch: " + failure,
                status.asException());
    }

    private Gap compacted(Revision compacted) {
        Position.Anchor anchor = position.anchor();
        if (anchor != null && !compacted.isAfter(position.revision().next())) {
            return new Gap(
                    position,
                    compacted,
                    "compaction at revision " + compacted + " removed the commit at revision " + anchor.revision()
                            + ", which is needed to verify the history");
        }
        return new Gap(position, compacted, "source history is compacted up to revision " + compacted);
    }

    private TailLostException canceled(String reason) throws FeedEndedException {
        // A cancel has no code: etcd's texts are all there is to detect a refusal by.
        Status status = Status.UNKNOWN.withDescription(reason);
        if (EtcdErrors.classify(Duty.WATCH, status).remedy() == Remedy.FATAL) {
            throw new Unexplained(where + " rejected the watch: " + reason);
        }
        return new TailLostException(TailLostException.Reason.CANCELED, where + " canceled the watch: " + reason);
    }
}
