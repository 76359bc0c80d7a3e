package io.understudy.gateway.hub;

import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.LoggedCommit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads history on its own thread, one reading at a time, into a shared log. */
final class CatchUp implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(CatchUp.class);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long PAUSE_MILLIS = 20;
    private static final long LONGEST_PAUSE_MILLIS = 10_000;

    /** Maximum number of commits that are read ahead of the slowest watcher. */
    private static final int MAX_COMMITS = 4_000;

    private static final long MAX_BYTES = 16 << 20;

    private final CatchUps all;
    private final Thread thread;
    /** The log of one reading; the next has another, since a log never goes back. */
    private volatile CommitLog log = new CommitLog();

    private volatile int epoch;
    private volatile long claimed = CommitLog.NONE;
    private volatile CommitHistory.@Nullable Reading reading;

    CatchUp(CatchUps all, String name) {
        this.all = all;
        this.thread = new Thread(this::run, name);
        this.thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** The commits read, without those that all watchers have received. */
    CommitLog log() {
        return log;
    }

    /** The {@link CatchUps#epoch} of the log. */
    int epoch() {
        return epoch;
    }

    /** The revision after which it reads; {@link CommitLog#NONE} while it doesn't. */
    long claimed() {
        return claimed;
    }

    void claim(long after) {
        claimed = after;
    }

    @Override
    public void close() {
        thread.interrupt();
        CommitHistory.Reading open = reading;
        if (open != null) {
            open.close();
        }
    }

    private void run() {
        long pause = PAUSE_MILLIS;
        try {
            CatchUps.Want want = all.next(this);
            while (want != null) {
                pause = tryToRead(want) ? PAUSE_MILLIS : Math.min(LONGEST_PAUSE_MILLIS, pause * 2);
                all.awaitChange(pause);
                want = all.next(this);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Returns whether the reading succeeded; otherwise it is retried, since watchers wait for it. */
    private boolean tryToRead(CatchUps.Want want) throws InterruptedException {
        try {
            read(want);
            return true;
        } catch (RuntimeException | Error e) {
            if (!all.isClosed()) {
                LOG.atError().addKeyValue("from", want.after() + 1).setCause(e).log("reading history failed; retrying");
            }
            return false;
        } finally {
            claimed = CommitLog.NONE;
            log = new CommitLog();
        }
    }

    private void read(CatchUps.Want want) throws InterruptedException {
        LOG.atInfo()
                .addKeyValue("from", want.after() + 1)
                .addKeyValue("previous", want.previous())
                .log("reading history started");
        int began = all.epoch();
        CommitLog fresh = new CommitLog(all.nextNumber());
        fresh.begin(want.after());
        log = fresh;
        // Last, so that no other log counts as one of this epoch.
        epoch = began;
        try (CommitHistory.Reading open = all.history().open(want.after() + 1, want.previous())) {
            reading = open;
            @Nullable Long lowest = want.after();
            while (lowest != null && !all.isClosed() && began == all.epoch()) {
                forget(lowest);
                claimed = log.from();
                boolean isThere = log.head() >= all.head().readableFrom();
                if (isThere && all.isWantedBefore(log.from(), this)) {
                    // A reading that begins lower reaches these watchers too.
                    return;
                }
                if (isFull() || isThere) {
                    all.awaitChange(PAUSE_MILLIS);
                } else {
                    step(open.next(POLL));
                }
                // Later watchers that need commits forgotten here wait for the next reading.
                lowest = all.lowest(log.from());
            }
            LOG.atInfo().addKeyValue("to", log.head()).log("reading history completed");
        } catch (CommitHistory.CompactedException e) {
            LOG.atInfo()
                    .addKeyValue("compacted", e.compactRevision())
                    .addKeyValue("requested", log.head() + 1)
                    .addKeyValue("cause", e.getMessage())
                    .log("history compacted");
            if (e.isPreviousOnly()) {
                all.compactedWithPrevious(e.compactRevision(), began);
            } else {
                long from = e.isEarlierReadable() ? log.head() : 0;
                long next = e.compactRevision() == 0
                        ? Math.max(all.head().readableFrom() + 1, log.head() + 2)
                        : e.compactRevision();
                all.compacted(
                        new CatchUps.Compacted(from, next, e.compactRevision() == 0 ? e.getMessage() : null), began);
                awaitWithdrawn(e.isEarlierReadable() ? log.from() : 0, next);
            }
        } finally {
            reading = null;
        }
    }

    private void step(CommitHistory.@Nullable Step step) {
        if (step instanceof CommitHistory.Step.Committed committed) {
            log.add(committed.commit());
            all.metrics().readFromHistory();
        } else if (step instanceof CommitHistory.Step.Complete complete) {
            log.advance(complete.revision());
        } else {
            return;
        }
        all.moved();
    }

    /** Waits until the watchers that need missing commits have ended. */
    private void awaitWithdrawn(long from, long compactRevision) throws InterruptedException {
        Long lowest = all.lowest(from);
        while (lowest != null
                && lowest + 1 < compactRevision
                && all.compacted(lowest, false).next() >= compactRevision
                && !all.isWantedBefore(from, this)
                && !all.isClosed()) {
            all.awaitChange(PAUSE_MILLIS);
            lowest = all.lowest(from);
        }
        all.forgetCompacted(compactRevision);
    }

    private boolean isFull() {
        return log.size() >= MAX_COMMITS || (log.size() > 1 && log.bytes() >= MAX_BYTES);
    }

    private void forget(long upTo) {
        LoggedCommit first = log.first();
        while (first != null && first.revision().value() <= upTo) {
            log.forget(first.revision().value());
            first = log.first();
        }
    }
}
