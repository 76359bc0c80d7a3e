package io.understudy.feed.etcd;

import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Channel;
import io.grpc.Status;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.Remedy;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.AnotherCluster;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The commits after a position, from one watch on one member: opened at the anchor, verified, then followed until it is
 * lost. Never goes on by itself after a loss; the feed opens another tail.
 *
 * <p>A quiet stream is asked for progress, so that a silent one is known to be stalled. Read by the feed's thread;
 * {@link #close} from any.
 */
final class Tail implements AutoCloseable {

    private final String where;
    private final Channel channel;
    private final KeyRange range;
    private final EtcdFeedOptions options;
    private final SourceFacts facts;
    private final WatchStream stream;
    private final CommitAssembler assembler;
    private final ArrayDeque<TailEvent> ready = new ArrayDeque<>();

    private Position position;
    /** Null once the history was recognised. */
    private @Nullable AnchorCheck check;
    /** The member's revision when the watch was created; null before. */
    private @Nullable Revision head;

    private long heardNanos;
    private long askedNanos;
    private long polledNanos;

    Tail(String where, Channel channel, KeyRange range, Position position, EtcdFeedOptions options, SourceFacts facts) {
        this.where = where;
        this.channel = channel;
        this.range = range;
        this.options = options;
        this.facts = facts;
        this.position = position;
        this.check = new AnchorCheck(position);
        this.assembler = new CommitAssembler(options.maxCommitBytes());
        this.stream = WatchStream.open(channel, WatchMessages.create(range, check.start()));
        this.heardNanos = System.nanoTime();
        this.askedNanos = heardNanos;
        this.polledNanos = heardNanos;
    }

    /**
     * The next event, or null if none came in time.
     *
     * @throws TailLostException this tail is over, the feed need not be
     * @throws FeedEndedException the feed is over
     */
    @Nullable TailEvent next(Duration timeout) throws TailLostException, FeedEndedException, InterruptedException {
        long now = System.nanoTime();
        if (now - polledNanos > options.progressInterval().toNanos()) {
            // The consumer was busy: silence meanwhile is ours, not the member's.
            heardNanos = now;
        }
        long deadline = now + timeout.toNanos();
        while (ready.isEmpty()) {
            polledNanos = now;
            if (now - heardNanos > options.stallTimeout().toNanos()) {
                throw stalled();
            }
            long progressDue = Math.max(askedNanos, heardNanos)
                    + options.progressInterval().toNanos();
            if (now >= progressDue) {
                stream.requestProgress();
                askedNanos = now;
                progressDue = now + options.progressInterval().toNanos();
            }
            WatchStream.Signal signal =
                    stream.next(Duration.ofNanos(Math.max(0, Math.min(deadline, progressDue) - now)));
            now = System.nanoTime();
            if (signal instanceof WatchStream.Signal.Message message) {
                heardNanos = now;
                receive(message.response());
            } else if (signal instanceof WatchStream.Signal.Closed closed) {
                throw ended(closed.status());
            } else if (now >= deadline) {
                break;
            }
        }
        polledNanos = System.nanoTime();
        return ready.poll();
    }

    @Override
    public void close() {
        stream.close();
    }

    private void receive(WatchResponse response) throws TailLostException, FeedEndedException, InterruptedException {
        // A compacted cancel carries revision 0 and, below 3.5, no ids (v3rpc/watch.go).
        if (response.getCanceled()) {
            if (response.getCompactRevision() > 0) {
                throw compacted(new Revision(response.getCompactRevision()));
            }
            throw canceled(response.getCancelReason());
        }
        ClusterId cluster = new ClusterId(response.getHeader().getClusterId());
        if (!cluster.equals(position.cluster())) {
            throw new AnotherCluster(where, position.cluster(), cluster);
        }
        if (response.getCreated()) {
            head = new Revision(response.getHeader().getRevision());
            // The answer tells, without waiting for the next write, that the anchor's commit is or isn't there.
            stream.requestProgress();
            return;
        }
        if (response.getEventsCount() == 0) {
            onProgress(new Revision(response.getHeader().getRevision()));
            return;
        }
        ArrayDeque<Commit> commits = new ArrayDeque<>();
        assembler.accept(response, commits::add);
        for (Commit commit : commits) {
            onCommit(commit);
        }
    }

    private void onCommit(Commit commit) throws TailLostException, FeedEndedException, InterruptedException {
        if (check != null && opened(check.onFirstCommit(commit))) {
            return;
        }
        if (!commit.revision().isAfter(position.revision())) {
            throw facts.differentHistory(
                    where,
                    channel,
                    range,
                    position,
                    "a commit at revision " + commit.revision() + " that was not there before");
        }
        position = AnchorCheck.anchored(position, commit.revision(), commit);
        ready.add(new TailEvent.Committed(commit, position));
    }

    private void onProgress(Revision complete) throws TailLostException, FeedEndedException, InterruptedException {
        if (check != null) {
            AnchorCheck.Verdict verdict = check.onProgress(complete);
            if (verdict == null) {
                return;
            }
            opened(verdict);
        }
        if (complete.isAfter(position.revision())) {
            position = new Position(position.cluster(), complete, position.anchor());
        }
        ready.add(new TailEvent.Marked(position));
    }

    /** @return whether the commit judged was the anchor, to be dropped */
    private boolean opened(AnchorCheck.Verdict verdict)
            throws TailLostException, FeedEndedException, InterruptedException {
        if (verdict instanceof AnchorCheck.Verdict.Different different) {
            throw facts.differentHistory(where, channel, range, position, different.why());
        }
        AnchorCheck.Verdict.Same same = (AnchorCheck.Verdict.Same) verdict;
        position = same.position();
        check = null;
        ready.add(new TailEvent.Opened(position, head == null ? position.revision() : head));
        return same.dropped();
    }

    private TailLostException stalled() throws FeedEndedException, InterruptedException {
        Revision known = head;
        if (check != null && known != null && known.isBefore(check.start())) {
            // Silent because it has not got there: lag, unless the cluster as a whole has gone back.
            facts.requireReached(position);
            return new TailLostException(
                    TailLostException.Reason.BEHIND,
                    where + " is at revision " + known + ", the feed at " + position.revision());
        }
        return new TailLostException(
                TailLostException.Reason.STALLED,
                where + " told nothing for " + options.stallTimeout().toMillis() + " ms");
    }

    private TailLostException ended(Status status) throws FeedEndedException {
        if (EtcdErrors.classify(Duty.WATCH, status).remedy() == Remedy.FATAL) {
            throw new Unexplained(
                    where + " refuses the watch: " + status.getCode() + " " + status.getDescription(),
                    status.asException());
        }
        return new TailLostException(
                TailLostException.Reason.STREAM_ENDED,
                where + " ended the watch: " + status.getCode() + " " + status.getDescription(),
                status.asException());
    }

    private Gap compacted(Revision compacted) {
        Position.Anchor anchor = position.anchor();
        if (anchor != null && !compacted.isAfter(position.revision().next())) {
            return new Gap(
                    position,
                    compacted,
                    "compaction at revision " + compacted + " took the commit at " + anchor.revision()
                            + " by which the history could be recognised");
        }
        return new Gap(position, compacted, "the source has compacted its history up to revision " + compacted);
    }

    private TailLostException canceled(String reason) throws FeedEndedException {
        // A cancel has no code: etcd's texts are all there is to tell a refusal by.
        Status status = Status.UNKNOWN.withDescription(reason);
        if (EtcdErrors.classify(Duty.WATCH, status).remedy() == Remedy.FATAL) {
            throw new Unexplained(where + " refuses the watch: " + reason);
        }
        return new TailLostException(TailLostException.Reason.CANCELED, where + " canceled the watch: " + reason);
    }
}
