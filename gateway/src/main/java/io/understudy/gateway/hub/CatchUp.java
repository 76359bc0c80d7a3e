package io.understudy.gateway.hub;

import io.understudy.gateway.replica.CommitLog;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.LoggedCommit;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One reading of history at a time, on a thread of its own; what it reads is a log for all loops. */
final class CatchUp implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(CatchUp.class);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long PAUSE_MILLIS = 20;

    /** Of commits that are read and that not all have gone through. */
    private static final int MAX_COMMITS = 4_000;

    private static final long MAX_BYTES = 16 << 20;

    private final CatchUps all;
    private final Thread thread;
    /** Of one reading; the next has another, since a log never goes back. */
    private volatile CommitLog log = new CommitLog();

    private volatile long claimed = CommitLog.NONE;
    private volatile CommitHistory.@Nullable Reading reading;
    /** About the bytes that the log holds. Of the thread. */
    private long bytes;

    CatchUp(CatchUps all, String name) {
        this.all = all;
        this.thread = new Thread(this::run, name);
        this.thread.setDaemon(true);
    }

    void start() {
        thread.start();
    }

    /** What was read, and not everybody has gone through. */
    CommitLog log() {
        return log;
    }

    /** From which revision on it reads; {@link CommitLog#NONE} while it doesn't. */
    long claimed() {
        return claimed;
    }

    void claim(long told) {
        claimed = told;
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
        try {
            CatchUps.Want want = all.next(this);
            while (want != null) {
                read(want);
                claimed = CommitLog.NONE;
                want = all.next(this);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            if (!all.isClosed()) {
                LOG.error("history is read no more: watchers that begin before the window wait for ever", e);
            }
        }
    }

    private void read(CatchUps.Want want) throws InterruptedException {
        LOG.info("history is read from={} previous={}", want.told() + 1, want.previous());
        CommitLog fresh = new CommitLog();
        fresh.begin(want.told());
        log = fresh;
        bytes = 0;
        try (CommitHistory.Reading open = all.history().open(want.told() + 1, want.previous())) {
            reading = open;
            CatchUps.@Nullable Want lowest = want;
            while (lowest != null && !all.isClosed()) {
                forget(lowest.told());
                claimed = log.from();
                if (isFull() || log.head() >= all.head().from()) {
                    all.awaitChange(PAUSE_MILLIS);
                } else {
                    step(open.next(POLL));
                }
                // Who came later and wants what is forgotten here has to wait for the next reading.
                lowest = all.lowest(log.from());
            }
            LOG.info("history was read up to={}", log.head());
        } catch (CommitHistory.CompactedException e) {
            LOG.info("history is gone up to={} wanted={}", e.compactRevision(), log.head() + 1);
            all.compacted(e.compactRevision());
            awaitWithdrawn(e.compactRevision());
        } finally {
            reading = null;
        }
    }

    private void step(CommitHistory.@Nullable Step step) {
        if (step instanceof CommitHistory.Step.Committed committed) {
            log.add(committed.commit());
            bytes += bytes(committed.commit());
            all.metrics().readFromHistory();
        } else if (step instanceof CommitHistory.Step.Complete complete) {
            log.advance(complete.revision());
        } else {
            return;
        }
        all.moved();
    }

    /** Until those have been told who want what is gone. */
    private void awaitWithdrawn(long compactRevision) throws InterruptedException {
        CatchUps.Want lowest = all.lowest(0);
        while (lowest != null
                && lowest.told() + 1 < compactRevision
                && all.compactRevision() >= compactRevision
                && !all.isClosed()) {
            all.awaitChange(PAUSE_MILLIS);
            lowest = all.lowest(0);
        }
        all.forgetCompacted(compactRevision);
    }

    private boolean isFull() {
        return log.size() >= MAX_COMMITS || (log.size() > 1 && bytes >= MAX_BYTES);
    }

    private void forget(long told) {
        LoggedCommit first = log.first();
        while (first != null && first.revision().value() <= told) {
            bytes -= bytes(first);
            log.forget(first.revision().value());
            first = log.first();
        }
    }

    private static long bytes(LoggedCommit commit) {
        long sum = 0;
        for (Entry change : commit.changes()) {
            sum += change.wireSize();
        }
        return sum;
    }
}
