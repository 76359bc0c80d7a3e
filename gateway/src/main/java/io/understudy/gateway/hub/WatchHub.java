package io.understudy.gateway.hub;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.gateway.hub.CommitHistory.PreviousEntries;
import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.KeptVersions;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * The watchers of all event loops. For any thread.
 *
 * <p>Invariant V1: watches are ordered, unique, reliable, atomic, resumable and bookmarkable whatever fails, with
 * correct filters, previous values and create revisions.
 *
 * <p>Invariant V6: known watch faults of etcd and its proxy do not occur: lost, repeated or early events, premature
 * progress, silent watchers.
 */
public final class WatchHub implements AutoCloseable {

    private static final Duration RESTART_WAIT = Duration.ofSeconds(10);

    private final HubSettings settings;
    private final CommitLog log;
    private final KeptVersions kept;
    private final PreviousEntries previousEntries;
    private final CatchUps catchUps;
    private final HubMetrics metrics;
    private final AtomicInteger watchers = new AtomicInteger();
    private final Map<Executor, LoopHub> byLoop = new ConcurrentHashMap<>();
    /** The map's values, for iteration at each commit. */
    private volatile LoopHub[] loops = {};

    /**
     * @param log of the replica
     * @param kept of the replica
     * @param history of the source
     */
    public WatchHub(
            HubSettings settings,
            CommitLog log,
            KeptVersions kept,
            CommitHistory history,
            PreviousEntries previousEntries,
            MeterRegistry registry) {
        this.settings = settings;
        this.log = log;
        this.kept = kept;
        this.previousEntries = previousEntries;
        this.metrics = new HubMetrics(registry, this::loops);
        this.catchUps = new CatchUps(history, settings.catchUpStreams(), log, this::loops, metrics);
    }

    /** Returns the watchers of that loop; confined to it. */
    public LoopHub on(Executor loop) {
        LoopHub known = byLoop.get(loop);
        return known == null ? begin(loop) : known;
    }

    /** Wakes all loops after a change of the log. Called by its writing thread. */
    public void wake() {
        for (LoopHub loop : loops) {
            loop.wake();
        }
    }

    /**
     * Ends all watchers as compacted, since revisions begin again, and waits for that. Called by the thread that
     * writes the log, after it has emptied it.
     *
     * @throws java.util.concurrent.CompletionException an event loop did not respond
     */
    public void restart(long compactRevision) {
        catchUps.restart();
        CompletableFuture<?>[] ended =
                Stream.of(loops).map(loop -> loop.restart(compactRevision)).toArray(CompletableFuture[]::new);
        CompletableFuture.allOf(ended)
                .orTimeout(RESTART_WAIT.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }

    /** Whether another watcher is allowed. */
    public boolean hasRoom() {
        return watchers.get() < settings.maxWatchers();
    }

    public HubSettings settings() {
        return settings;
    }

    /** Ends the reading of history. */
    @Override
    public void close() {
        catchUps.close();
    }

    CatchUps catchUps() {
        return catchUps;
    }

    KeptVersions kept() {
        return kept;
    }

    PreviousEntries previousEntries() {
        return previousEntries;
    }

    HubMetrics metrics() {
        return metrics;
    }

    void joined() {
        watchers.incrementAndGet();
    }

    void left() {
        watchers.decrementAndGet();
    }

    private LoopHub[] loops() {
        return loops;
    }

    private synchronized LoopHub begin(Executor loop) {
        LoopHub made = byLoop.computeIfAbsent(loop, key -> new LoopHub(key, this, log));
        loops = byLoop.values().toArray(new LoopHub[0]);
        return made;
    }
}
