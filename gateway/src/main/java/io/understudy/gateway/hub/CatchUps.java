package io.understudy.gateway.hub;

import io.understudy.gateway.replica.CommitLog;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reads the source's history in a few shared readings, for watchers before the log. Thread-safe.
 *
 * <p>Event loops publish the revisions they want. Each reading begins at the lowest one that no other reading covers,
 * advances with its slowest watcher, and ends when all have reached the log.
 *
 * <p>Invariant V2: events before the window are delivered once and in order from one shared read of history, and no
 * watcher is delayed forever or cancelled for another's gap.
 */
final class CatchUps implements AutoCloseable {

    private static final long RECHECK_MILLIS = 500;

    private final CommitHistory history;
    private final CommitLog log;
    private final Supplier<LoopHub[]> loops;
    private final HubMetrics metrics;
    private final CatchUp[] readings;
    private volatile Compacted compacted = Compacted.NOTHING;
    /** Revision after the last commit too large to be read with previous entries; only grows. */
    private volatile long oldestWithPrevious;
    /** Incremented when revisions restart: earlier readings are of another cluster. */
    private volatile int epoch;

    /** Number of readings so far. */
    private long count;

    private boolean started;
    private boolean closed;

    /** A request for the commits after a revision. */
    record Want(long after, boolean previous) {}

    /**
     * Watchers that have reached {@code from} cannot receive what comes before {@code next}.
     *
     * @param refusal why the source does not serve it; null if it is compacted
     */
    record Compacted(long from, long next, @Nullable String refusal) {
        private static final Compacted NOTHING = new Compacted(0, 0, null);

        boolean concerns(long reached) {
            return reached >= from && reached + 1 < next;
        }
    }

    CatchUps(CommitHistory history, int streams, CommitLog log, Supplier<LoopHub[]> loops, HubMetrics metrics) {
        this.history = history;
        this.log = log;
        this.loops = loops;
        this.metrics = metrics;
        this.readings = new CatchUp[streams];
        for (int i = 0; i < streams; i++) {
            readings[i] = new CatchUp(this, "watch-history-" + i);
        }
    }

    /** Returns the log with the commits after that revision; null if there is none yet. */
    @Nullable CommitLog covering(long after, boolean previous) {
        if (previous && after + 1 < oldestWithPrevious) {
            return null;
        }
        for (CatchUp reading : readings) {
            CommitLog read = reading.log();
            if (reading.epoch() == epoch && read.covers(after) && after < read.head()) {
                return read;
            }
        }
        return null;
    }

    /** Returns the lowest revision above that one after which commits are there, or are known to be missing. */
    long nextKnown(long revision, boolean previous) {
        long next = revision + 1;
        long nextRead = previous ? Math.max(next, oldestWithPrevious - 1) : next;
        Compacted missing = compacted(next, previous);
        long gone = Math.max(next, missing.from());
        long lowest = missing.concerns(gone) ? gone : Long.MAX_VALUE;
        if (log.from() != CommitLog.NONE) {
            lowest = Math.min(lowest, Math.max(next, log.readableFrom()));
        }
        for (CatchUp reading : readings) {
            CommitLog read = reading.log();
            long first = Math.max(nextRead, read.from());
            if (reading.epoch() == epoch && first < read.head()) {
                lowest = Math.min(lowest, first);
            }
        }
        return lowest;
    }

    /** Returns the missing range that concerns watchers at {@code reached}, if there is one. */
    Compacted compacted(long reached, boolean previous) {
        Compacted found = compacted;
        Compacted unread = new Compacted(0, previous ? oldestWithPrevious : 0, null);
        boolean counts = found.concerns(reached) && found.next() >= unread.next();
        return unread.concerns(reached) && !counts ? unread : found;
    }

    /** The wanted revisions of an event loop have changed. */
    synchronized void wantsChanged() {
        if (!started && !closed && lowest(0) != null) {
            started = true;
            for (CatchUp reading : readings) {
                reading.start();
            }
        }
        notifyAll();
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        for (CatchUp reading : readings) {
            reading.close();
        }
    }

    CommitHistory history() {
        return history;
    }

    HubMetrics metrics() {
        return metrics;
    }

    /** The log that a reading has to reach. */
    CommitLog head() {
        return log;
    }

    /** Waits for a request that no other reading covers; null once closed. */
    synchronized @Nullable Want next(CatchUp caller) throws InterruptedException {
        while (!closed) {
            Long lowest = lowest(0);
            if (lowest != null && !isCovered(lowest, caller)) {
                caller.claim(lowest);
                boolean previous = lowest + 1 >= oldestWithPrevious && lowest(0, true) != null;
                return new Want(lowest, previous);
            }
            // Changes of claims are not signalled.
            wait(RECHECK_MILLIS);
        }
        return null;
    }

    /** Returns the lowest revision from {@code from} on after which commits are wanted; null if there is none. */
    @Nullable Long lowest(long from) {
        Long plain = lowest(from, false);
        Long previous = lowest(from, true);
        return plain == null || (previous != null && previous < plain) ? previous : plain;
    }

    private @Nullable Long lowest(long from, boolean previous) {
        Long lowest = null;
        for (LoopHub loop : loops.get()) {
            Long wanted = loop.wanted(from, previous);
            if (wanted != null && (lowest == null || wanted < lowest)) {
                lowest = wanted;
            }
        }
        return lowest;
    }

    /** Whether a commit before that revision is wanted, and no reading covers it. */
    boolean isWantedBefore(long revision, CatchUp caller) {
        // What covers the lowest covers all.
        Long lowest = lowest(0);
        return lowest != null && lowest < revision && !isCovered(lowest, caller);
    }

    /** Waits for the event loops to advance. */
    synchronized void awaitChange(long millis) throws InterruptedException {
        long until = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
        long left = millis;
        while (!closed && left > 0) {
            wait(left);
            left = TimeUnit.NANOSECONDS.toMillis(until - System.nanoTime());
        }
    }

    synchronized boolean isClosed() {
        return closed;
    }

    int epoch() {
        return epoch;
    }

    /** Returns the number of the next reading's log. */
    synchronized long nextNumber() {
        return ++count;
    }

    /** Handles a restart of revisions: readings end, and their results are dropped. */
    synchronized void restart() {
        epoch++;
        compacted = Compacted.NOTHING;
        oldestWithPrevious = 0;
        notifyAll();
    }

    void compacted(Compacted found, int readIn) {
        synchronized (this) {
            if (readIn != epoch) {
                return;
            }
            if (found.next() > compacted.next()) {
                compacted = found;
            }
        }
        moved();
    }

    /** The commit before {@code revision} cannot be read with previous entries. */
    void compactedWithPrevious(long revision, int readIn) {
        synchronized (this) {
            if (readIn != epoch) {
                return;
            }
            oldestWithPrevious = Math.max(oldestWithPrevious, revision);
        }
        moved();
    }

    /** Clears the compacted range once no watcher needs it, as the source may compact further. */
    synchronized void forgetCompacted(long revision) {
        if (compacted.next() == revision) {
            compacted = Compacted.NOTHING;
        }
    }

    void moved() {
        for (LoopHub loop : loops.get()) {
            loop.wake();
        }
    }

    private boolean isCovered(long after, CatchUp caller) {
        for (CatchUp reading : readings) {
            if (reading != caller
                    && reading.epoch() == epoch
                    && reading.claimed() != CommitLog.NONE
                    && reading.claimed() <= after) {
                return true;
            }
        }
        return false;
    }
}
