package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedSource;
import io.understudy.gateway.replica.SnapshotMerge.ReplicaDivergedException;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The one thread that writes a replica. It polls the feed, so that nothing is read faster than it is applied. After a
 * gap it opens a new feed and merges its snapshot; a dropped state is rebuilt from a snapshot of the same history only.
 * A rejected feed is opened again until the source serves it; only another history ends the writer.
 *
 * <p>Invariant G2: after a gap, or a rejection by the source, the replica resynchronizes; another cluster or history
 * fails the gateway and ends its process.
 */
public final class ReplicaWriter {

    private static final Logger LOG = LoggerFactory.getLogger(ReplicaWriter.class);
    private static final Duration POLL = Duration.ofSeconds(1);
    /** Maximum wait for the last commits of the former cluster. */
    private static final Duration END_WAIT = Duration.ofSeconds(2);

    private static final Duration END_POLL = Duration.ofMillis(20);
    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(10);

    private final Replica replica;
    private final FeedSource source;
    private final RecognisedConsumer consumer;
    private final Runnable onResync;
    private final Thread thread;
    private final CompletableFuture<Void> failure = new CompletableFuture<>();
    private volatile @Nullable Throwable cause;
    /** The end of the last feed, until the next one has delivered a snapshot. */
    private volatile @Nullable String problem;

    private Duration pause = FIRST_PAUSE;
    private @Nullable Position lastGap;
    private volatile boolean closing;
    private volatile @Nullable Feed feed;
    private final Queue<Pending> pending = new ConcurrentLinkedQueue<>();

    /** A switch to another cluster, made once the current feed has reached the end marker. */
    private record Pending(SourceMove move, Runnable switched, long latestNanos, CompletableFuture<Void> done) {}

    /**
     * Writes {@code replica} from feeds of {@code source}, once started.
     *
     * @param onApplied receives the time to apply each commit, on the writing thread
     * @param onResync called at each gap
     */
    public ReplicaWriter(Replica replica, FeedSource source, Consumer<Duration> onApplied, Runnable onResync) {
        this.replica = replica;
        this.source = source;
        this.consumer = new RecognisedConsumer(replica, source, this::isMoveDue, this::recovered, onApplied);
        this.onResync = onResync;
        this.thread = new Thread(this::run, "replica-writer");
    }

    public void start() {
        thread.start();
    }

    /** Fails with the final error of the feed; never completes otherwise. */
    public CompletableFuture<Void> failure() {
        return failure.copy();
    }

    /** The error that ended the writer; null while it runs. */
    public @Nullable Throwable failed() {
        return cause;
    }

    /** The reason to open the feed again; null while it is open. */
    public @Nullable String problem() {
        return problem;
    }

    /** Returns the time since the feed last delivered anything, even a progress mark. At first: since the start. */
    public Duration silence() {
        return consumer.silence();
    }

    /** Requests a progress mark from the feed. Thread-safe; returns at once. */
    public void requestProgress() {
        Feed open = feed;
        if (open != null) {
            open.requestProgress();
        }
    }

    /**
     * Ends the feed at the end marker, or after a while, and opens another cluster's.
     *
     * @param switched lets the source open feeds of that cluster; run between both feeds, on the writing thread
     * @return completes when the former feed has ended; never if the writer is closed meanwhile, or fails
     */
    public CompletableFuture<Void> move(SourceMove move, Runnable switched) {
        boolean awaitsEnd = replica.log().head() < move.endMarker().value() && !replica.goesBack(move);
        Pending next = new Pending(
                move, switched, System.nanoTime() + (awaitsEnd ? END_WAIT.toNanos() : 0), new CompletableFuture<>());
        // First, since the writer may have made the move and opened the next feed once it is pending.
        Feed open = feed;
        pending.add(next);
        LockSupport.unpark(thread);
        if (open != null && awaitsEnd) {
            open.requestProgress();
        } else if (open != null) {
            open.close();
        }
        return next.done().copy();
    }

    /** Ends the feed and the thread; waits for it up to {@code deadline}. Idempotent. */
    public void close(Duration deadline) throws InterruptedException {
        closing = true;
        Feed open = feed;
        if (open != null) {
            open.close();
        }
        thread.interrupt();
        if (thread.isAlive()) {
            thread.join(deadline.toMillis());
        }
    }

    private void run() {
        try {
            while (!closing) {
                for (Pending next = pending.poll(); next != null; next = pending.poll()) {
                    next.switched().run();
                    replica.moved(next.move());
                    next.done().complete(null);
                }
                follow();
            }
        } catch (InterruptedException e) {
            if (!closing) {
                fail(e);
            }
        } catch (FeedEndedException | RuntimeException | Error e) {
            // Closing a feed makes its poll fail, which wakes the thread.
            if (!closing) {
                fail(e);
            }
        }
    }

    /** Applies one feed until there is a gap. */
    private void follow() throws FeedEndedException, InterruptedException {
        try (Feed opened = source.open(replica.range(), FeedKind.TRANSIENT, null)) {
            feed = opened;
            replica.feedOpened();
            while (!closing && !isMoveDue() && !replica.isSnapshotDue()) {
                boolean moves = !pending.isEmpty();
                if (!opened.poll(moves ? END_POLL : POLL, consumer) && moves) {
                    opened.requestProgress();
                }
            }
        } catch (FeedEndedException.Gap gap) {
            if (gap.position().equals(lastGap)) {
                // Its snapshot was not newer, such as that of a delayed state topic.
                retry(gap);
                return;
            }
            lastGap = gap.position();
            onResync.run();
            LOG.atInfo()
                    .addKeyValue("revision", gap.position().revision())
                    .addKeyValue("compacted", gap.compacted())
                    .addKeyValue("cause", gap.getMessage())
                    .log("replica resynchronizing");
        } catch (FeedEndedException.Unexplained e) {
            retry(e);
        } catch (ReplicaDivergedException e) {
            throw e;
        } catch (FeedEndedException | RuntimeException e) {
            if (e instanceof CompletionException && e.getCause() instanceof FeedEndedException rejected) {
                retry(rejected);
            } else if (pending.isEmpty()) {
                throw e;
            }
            // Closed for a move, possibly just as its cluster failed.
        }
    }

    /** Reports a rejected feed once, and waits before the next one. */
    private void retry(FeedEndedException rejected) throws InterruptedException {
        String why = String.valueOf(rejected.getMessage());
        if (closing) {
            return;
        }
        if (problem == null) {
            onResync.run();
        }
        if (!why.equals(problem)) {
            problem = why;
            LOG.atWarn().addKeyValue("cause", why).log("feed failed; retrying");
        }
        long until = System.nanoTime() + pause.toNanos();
        Duration doubled = pause.multipliedBy(2);
        pause = doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
        for (long left = until - System.nanoTime();
                left > 0 && pending.isEmpty() && !closing;
                left = until - System.nanoTime()) {
            LockSupport.parkNanos(this, left);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    private void recovered() {
        pause = FIRST_PAUSE;
        if (problem != null) {
            problem = null;
            LOG.atInfo().addKeyValue("revision", replica.revision()).log("feed recovered");
        }
    }

    private boolean isMoveDue() {
        Pending next = pending.peek();
        return next != null
                && (replica.log().head() >= next.move().endMarker().value()
                        || System.nanoTime() - next.latestNanos() >= 0);
    }

    private void fail(Throwable why) {
        ReplicaState state = replica.state();
        LOG.atError()
                .addKeyValue("revision", state == null ? "none" : state.revision())
                .addKeyValue("cause", why.getMessage() == null ? why.toString() : why.getMessage())
                .setCause(why instanceof FeedEndedException || why instanceof ReplicaDivergedException ? null : why)
                .log("replica stopped permanently");
        cause = why;
        failure.completeExceptionally(why);
    }

    /**
     * A switch of a replica to a cluster with the same contents at other revisions.
     *
     * @param revision of the new cluster with the contents
     * @param endMarker revision of the former cluster with the contents; zero if that is not certain
     * @param former greatest revision in an answer of the former cluster: clients may know it
     * @param unrelated keys that differ between both clusters, in any range
     * @param mirrored ranges of keys that are equal in both clusters, except unrelated ones
     */
    public record SourceMove(
            Revision revision,
            Revision endMarker,
            Revision former,
            Predicate<ByteString> unrelated,
            Predicate<KeyRange> mirrored) {}
}
