package io.understudy.gateway.hub;

import io.understudy.gateway.hub.Watcher.WatchSpec;
import io.understudy.gateway.hub.Watcher.WatcherListener;
import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.LoggedCommit;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The watchers of one event loop. Confined to that loop unless stated otherwise.
 *
 * <p>Each turn delivers to the live watchers first, then one batch to those behind. Output and other tasks of the loop
 * run between turns.
 *
 * <p>Invariant V3: a watcher that would miss compacted commits is cancelled with the true compact revision, and other
 * watchers continue.
 */
public final class LoopHub {

    private static final Logger LOG = LoggerFactory.getLogger(LoopHub.class);
    private static final long RETRY_MILLIS = 1000;

    private final Executor loop;
    private final WatchHub hub;
    private final WatcherGroup plain;
    private final WatcherGroup withPrevious;
    private final AtomicBoolean woken = new AtomicBoolean();
    private final Set<Waiting> waiting = new LinkedHashSet<>();
    private final CommitLog log;
    private final Queue<Runnable> afterwards = new ArrayDeque<>();
    private final Set<LoggedCommit> learning = new HashSet<>();
    private boolean inTurn;
    private boolean runsWaiting;
    /** The revisions at the last comparison of the waiting tasks. */
    private long ranAt = CommitLog.NONE;

    private long ranAtPrevious = CommitLog.NONE;
    /** Events delivered in this turn. */
    private long delivered;

    /** The lowest revisions after which history is wanted, at the end of the last turn. */
    private @Nullable Long wanted;

    private @Nullable Long wantedWithPrevious;

    /** Published after each turn. */
    private volatile Counts counts = new Counts(0, 0, 0, 0);

    /** A task that waits for a revision of the watchers with, or without, previous entries. */
    private record Waiting(long least, boolean previous, Runnable task) {
        @Override
        @SuppressWarnings("ReferenceEquality") // Each is withdrawn by itself.
        public boolean equals(@Nullable Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    /** Numbers of watchers by state. */
    record Counts(int live, int behind, int parked, int coming) {}

    LoopHub(Executor loop, WatchHub hub, CommitLog log) {
        this.loop = loop;
        this.hub = hub;
        this.log = log;
        this.plain = new WatcherGroup(this, log, false);
        this.withPrevious = new WatcherGroup(this, log, true);
    }

    /**
     * The revision up to which all {@linkplain Watcher#isSynced synced} watchers are complete. {@link CommitLog#NONE}
     * before the first snapshot.
     */
    public long revision() {
        return withPrevious.live() == 0 ? plain.revision() : Math.min(plain.revision(), withPrevious.revision());
    }

    /** Whether the source has compacted the previous entries of the watcher's first commit. */
    public boolean lacksPrevious(WatchSpec spec) {
        return spec.previous() && log.isCompactRevision(spec.startRevision());
    }

    /** The revision after which a watcher added now with start 0 receives events. */
    public long revision(boolean previous) {
        return (previous ? withPrevious : plain).revision();
    }

    /**
     * Runs {@code task} once the watchers with (or without) {@code previous} entries have reached {@code least}.
     * Requires at least the first snapshot; immediate if reached already.
     *
     * @return cancels the task
     */
    public Runnable whenAt(long least, boolean previous, Runnable task) {
        long known = Math.max(0, least);
        if (revision(previous) < known) {
            turn();
        }
        if (revision(previous) >= known) {
            task.run();
            return () -> {};
        }
        Waiting made = new Waiting(known, previous, task);
        waiting.add(made);
        return () -> waiting.remove(made);
    }

    /** Delivers the logged commits to the live watchers, as many as one turn may take. */
    public void turn() {
        if (inTurn) {
            return;
        }
        inTurn = true;
        boolean more;
        try {
            more = plain.stepLive();
            more |= withPrevious.stepLive();
            boolean stepped = plain.stepBehind(hub.catchUps());
            stepped |= withPrevious.stepBehind(hub.catchUps());
            more |= stepped;
            publish(stepped);
        } finally {
            inTurn = false;
            hub.metrics().delivered(delivered);
            delivered = 0;
            runAfterwards();
        }
        runWaiting();
        if (more) {
            wake();
        }
    }

    /**
     * Adds a watcher; call only when {@link #revision} is known. Delivers nothing before this returns.
     *
     * @throws IllegalStateException before the first snapshot
     */
    public Watcher add(WatchSpec spec, WatcherListener listener) {
        if (revision() == CommitLog.NONE) {
            throw new IllegalStateException("first snapshot not complete");
        }
        // Without live watchers that revision may be outdated.
        turn();
        WatcherGroup group = spec.previous() ? withPrevious : plain;
        Watcher watcher = new Watcher(group, spec, listener);
        hub.joined();
        group.add(watcher);
        publishCounts();
        return watcher;
    }

    /** Runs {@code task} after the current turn; at once if there is none. */
    public void afterwards(Runnable task) {
        if (inTurn) {
            afterwards.add(task);
        } else {
            task.run();
        }
    }

    /** Schedules a turn. Thread-safe. */
    void wake() {
        if (woken.compareAndSet(false, true)) {
            loop.execute(() -> {
                woken.set(false);
                turn();
            });
        }
    }

    /** Ends all watchers as compacted; completes when they have ended. Thread-safe. */
    CompletableFuture<Void> restart(long compactRevision) {
        return CompletableFuture.runAsync(
                () -> {
                    inTurn = true;
                    ranAt = CommitLog.NONE;
                    ranAtPrevious = CommitLog.NONE;
                    try {
                        plain.restart(compactRevision);
                        withPrevious.restart(compactRevision);
                        publish(true);
                    } finally {
                        inTurn = false;
                        runAfterwards();
                    }
                },
                loop);
    }

    /** As {@link WatcherGroup#wanted}, of watchers with or without previous entries. Thread-safe. */
    @Nullable Long wanted(long from, boolean previous) {
        return (previous ? withPrevious : plain).wanted(from);
    }

    /** Thread-safe. */
    Counts counts() {
        return counts;
    }

    void learn(LoggedCommit commit) {
        if (learning.add(commit)) {
            CompletableFuture<Void> unused = CompletableFuture.completedFuture(commit)
                    .thenCompose(hub.previousEntries()::learn)
                    .whenComplete((nothing, failure) -> {
                        Throwable why = failure instanceof CompletionException ? failure.getCause() : failure;
                        // The source was closed; another one may replace it.
                        boolean retries =
                                why instanceof CancellationException || why instanceof RejectedExecutionException;
                        Executor then = retries
                                ? CompletableFuture.delayedExecutor(RETRY_MILLIS, TimeUnit.MILLISECONDS, loop)
                                : loop;
                        then.execute(() -> {
                            learning.remove(commit);
                            if (why != null && !retries) {
                                withPrevious.unreadable(commit, why);
                            }
                            turn();
                        });
                    });
        }
    }

    /** Reports a watcher that was cancelled because a delivery failed. */
    void failed(Watcher watcher, Throwable why) {
        LOG.atError()
                .addKeyValue("range", watcher.spec().range())
                .setCause(why)
                .log("watcher cancelled: delivery failed");
        afterwards(() -> watcher.listener().failed(why));
    }

    void left() {
        hub.left();
        // Counts and wanted history are published after turns.
        wake();
    }

    void compacted() {
        hub.metrics().compacted();
    }

    /** As {@link EventBatch#keep}, for the events of a pass. */
    Runnable keep(long revision, long log, long bytes, Runnable end) {
        return hub.kept().keepBatch(revision, log, bytes, end);
    }

    void delivered(int events) {
        delivered += events;
    }

    void slow() {
        hub.metrics().slow();
    }

    /** Records the delivery latency of a batch by its first commit. */
    void recordLatency(LoggedCommit first) {
        hub.metrics().recordLatency(System.nanoTime() - first.loggedNanos());
    }

    private void publish(boolean stepped) {
        publishCounts();
        Long now = plain.wanted(0);
        Long nowWithPrevious = withPrevious.wanted(0);
        if (stepped || !Objects.equals(now, wanted) || !Objects.equals(nowWithPrevious, wantedWithPrevious)) {
            wanted = now;
            wantedWithPrevious = nowWithPrevious;
            hub.catchUps().wantsChanged();
        }
    }

    private void publishCounts() {
        counts = new Counts(
                plain.live() + withPrevious.live(),
                plain.behind() + withPrevious.behind(),
                plain.parked() + withPrevious.parked(),
                plain.coming() + withPrevious.coming());
    }

    private void runAfterwards() {
        for (Runnable task = afterwards.poll(); task != null; task = afterwards.poll()) {
            run(task);
        }
    }

    /** Runs waiting tasks one by one, since thousands of them must not recurse. */
    private void runWaiting() {
        // Tasks wait for later revisions only: thousands of them must not be compared again for each new watcher.
        if (runsWaiting || (revision(false) == ranAt && revision(true) == ranAtPrevious)) {
            return;
        }
        runsWaiting = true;
        boolean ran = !waiting.isEmpty();
        while (ran) {
            ran = false;
            for (Waiting each : List.copyOf(waiting)) {
                if (revision(each.previous()) >= each.least() && waiting.remove(each)) {
                    ran = true;
                    run(each.task());
                }
            }
        }
        ranAt = revision(false);
        ranAtPrevious = revision(true);
        runsWaiting = false;
    }

    /** Logs a failure, so that the other tasks run. */
    private static void run(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.error("watch hub task failed", e);
        }
    }
}
