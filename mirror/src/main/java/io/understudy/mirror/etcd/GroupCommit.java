package io.understudy.mirror.etcd;

import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Position;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes one batch while the next one gathers; the busier the target, the larger the batches. At most two are held:
 * adding to a full one blocks.
 *
 * <p>{@link #flush} writes a few commits on the caller's thread: to wake another thread for one commit, and to be woken
 * by it, is the largest cost here. A separate thread writes many.
 *
 * <p>The next call throws a failure, and nothing is written after it. One thread adds, flushes and drains.
 */
final class GroupCommit implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);

    private static final long CLOSE_MILLIS = 3_000;

    /** So many commits are not worth waiting for the end of. */
    private static final int MANY = 16;

    /** Nor is the end of what comes all the time, be it few of them that the target gets. */
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** After a batch of so many the next few are expected soon, too. */
    private static final int SEVERAL = 3;

    /** As long as a target takes for a transaction, about: under load latency grows by no more. */
    private static final long GATHERING_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final TargetHistory history;
    private final Consumer<CommitBatch> writer;
    private final LongSupplier clock;
    private final Thread thread;

    private boolean started;
    private boolean closed;
    /** Whether either thread writes, or a task runs. */
    private boolean writing;

    private CommitBatch gathering;
    /** When the first came to it. */
    private long gatheringSince;
    /** Of the batch before it. */
    private int lastCommits;
    /** Runs between batches. */
    private @Nullable Runnable task;

    private @Nullable Throwable failure;

    /**
     * A group of no commits yet.
     *
     * @param writer writes a batch, blocking; called by one thread at a time
     * @param clock as {@link System#nanoTime}
     */
    GroupCommit(String name, TargetHistory history, Consumer<CommitBatch> writer, LongSupplier clock) {
        this.history = history;
        this.writer = writer;
        this.clock = clock;
        this.gathering = new CommitBatch(history);
        this.thread = new Thread(this::run, name);
        this.thread.setDaemon(true);
    }

    /**
     * Adds a commit, once there is room for it. It may wait for {@link #flush}.
     *
     * @param room how many bytes one transaction takes
     */
    synchronized void add(TargetCommit next, long room) {
        requireOpen();
        if (!gathering.takes(next, room)) {
            wake();
            pauseWhile(() -> !gathering.takes(next, room));
        }
        begin();
        gathering.add(next, room);
        wakeIfDue();
    }

    /**
     * Advances without changes to {@code reached}. Its write may wait for {@link #flush}.
     *
     * @param wanted whether to write it even if nothing else is left to write; called only then
     * @return false if not, and nothing is left to write
     */
    synchronized boolean advance(Position reached, Instant at, BooleanSupplier wanted) {
        requireOpen();
        if (isIdle() && !wanted.getAsBoolean()) {
            return false;
        }
        begin();
        gathering.advanceTo(reached, at);
        wakeIfDue();
        return true;
    }

    /** How long to let more come before {@link #flush}: not at all after a batch of one or two. */
    synchronized Duration pause() {
        if (lastCommits < SEVERAL || gathering.isEmpty()) {
            return Duration.ZERO;
        }
        long left = GATHERING_NANOS - (clock.getAsLong() - gatheringSince);
        return left <= 0 ? Duration.ZERO : Duration.ofNanos(left);
    }

    /**
     * Writes what was added now: here, unless the thread is writing, which then continues with it. Commits with leases
     * wait for responses, so the thread writes them, and the caller can read on meanwhile.
     */
    void flush() {
        CommitBatch full;
        synchronized (this) {
            requireOpen();
            if (gathering.isEmpty() || writing || task != null) {
                return;
            }
            if (gathering.isLeased()) {
                wake();
                return;
            }
            full = take();
        }
        try {
            writer.accept(full);
        } catch (RuntimeException | Error e) {
            fail(e);
            throw e;
        }
        written();
    }

    /** Waits until all that was added is written. */
    void drain() {
        flush();
        pauseWhile(() -> !isIdle());
    }

    /** Runs a task on the thread, between two batches, and waits for it. For one other thread at a time. */
    synchronized void between(Runnable work) {
        requireOpen();
        task = work;
        wake();
        pauseWhile(() -> task == work);
    }

    private void begin() {
        if (gathering.isEmpty()) {
            gatheringSince = clock.getAsLong();
        }
    }

    /** The feed may have more for as long as it likes: {@link #flush} isn't waited for beyond this. */
    private void wakeIfDue() {
        if (gathering.commits() >= MANY || clock.getAsLong() - gatheringSince > LONG_NANOS) {
            wake();
        }
    }

    private boolean isIdle() {
        return gathering.isEmpty() && !writing;
    }

    private void wake() {
        if (!started) {
            started = true;
            thread.start();
        }
        if (!writing) {
            notifyAll();
        }
    }

    private synchronized void pauseWhile(BooleanSupplier condition) {
        requireOpen();
        while (condition.getAsBoolean()) {
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SinkException.Stopped("waiting for pending writes to the target");
            }
            requireOpen();
        }
    }

    private void requireOpen() {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        if (closed) {
            throw new IllegalStateException("sink is closed");
        }
    }

    private void run() {
        try {
            for (Runnable next = next(); next != null; next = next()) {
                next.run();
                done();
            }
        } catch (Throwable e) {
            fail(e);
        }
    }

    private synchronized void fail(Throwable e) {
        failure = e;
        notifyAll();
    }

    /** Waits for what to do next; null at the end. */
    private synchronized @Nullable Runnable next() throws InterruptedException {
        while (!closed && failure == null && (writing || (gathering.isEmpty() && task == null))) {
            wait();
        }
        if (closed || failure != null) {
            return null;
        }
        Runnable work = task;
        if (work != null) {
            writing = true;
            return () -> {
                work.run();
                forget(work);
            };
        }
        CommitBatch full = take();
        notifyAll();
        return () -> writer.accept(full);
    }

    private CommitBatch take() {
        writing = true;
        CommitBatch full = gathering;
        lastCommits = full.commits();
        gathering = new CommitBatch(history);
        return full;
    }

    /** On the caller's thread: the other one is woken only for a task. */
    private synchronized void written() {
        writing = false;
        if (task != null) {
            notifyAll();
        }
    }

    private synchronized void forget(Runnable work) {
        if (task == work) {
            task = null;
        }
    }

    private synchronized void done() {
        writing = false;
        notifyAll();
    }

    /** Ends the thread, interrupting what it does. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
            if (!started) {
                return;
            }
        }
        thread.interrupt();
        boolean interrupted = false;
        long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(CLOSE_MILLIS);
        while (thread.isAlive() && System.nanoTime() < deadline) {
            try {
                thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (thread.isAlive()) {
            LOG.atWarn().addKeyValue("thread", thread.getName()).log("writer thread did not stop in time");
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
