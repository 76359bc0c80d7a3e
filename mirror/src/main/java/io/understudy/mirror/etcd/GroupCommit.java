package io.understudy.mirror.etcd;

import io.understudy.mirror.etcd.CommitBatch.TargetCommit;
import io.understudy.mirror.etcd.EtcdSinkOptions.TargetHistory;
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
 * Writes one batch while the next one gathers. The busier the target, the larger the batches. At most two are held:
 * adding to a full one blocks.
 *
 * <p>{@link #flush} writes a few commits on the caller's thread: waking another thread and waiting for it is the
 * largest cost of one commit. A separate thread writes many.
 *
 * <p>The next call throws a failure, and nothing is written after it. One thread adds, flushes and drains.
 */
final class GroupCommit implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);

    private static final long CLOSE_MILLIS = 3_000;

    /** Batch size from which the writer thread starts at once. */
    private static final int MANY = 16;

    /** Age of a batch from which the writer thread starts at once. */
    private static final long LONG_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Size of the last batch from which more commits are soon expected. */
    private static final int SEVERAL = 3;

    /** About the duration of a target transaction, which bounds the added latency under load. */
    private static final long GATHERING_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final TargetHistory history;
    private final Consumer<CommitBatch> writer;
    private final LongSupplier clock;
    private final Thread thread;

    private boolean started;
    private boolean closed;
    /** Whether either thread writes or runs a task. */
    private boolean writing;

    private CommitBatch gathering;
    /** Time of its first addition. */
    private long gatheringSince;
    /** Commits of the previous batch. */
    private int lastCommits;
    /** Runs between batches. */
    private @Nullable Runnable task;

    private @Nullable Throwable failure;

    /**
     * Creates a group without commits.
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
     * Adds a commit, blocking while the batch is full. Its write may wait for {@link #flush}.
     *
     * @param room bytes that fit into one transaction
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
     * @param wanted whether to write the position alone; called only if nothing else is pending
     * @return false if not wanted and nothing is pending
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

    /** Returns the delay before {@link #flush}: zero after a batch of one or two. */
    synchronized Duration pause() {
        if (lastCommits < SEVERAL || gathering.isEmpty()) {
            return Duration.ZERO;
        }
        long left = GATHERING_NANOS - (clock.getAsLong() - gatheringSince);
        return left <= 0 ? Duration.ZERO : Duration.ofNanos(left);
    }

    /**
     * Writes pending commits on this thread, unless the writer thread is busy, which then continues. The writer thread
     * also writes commits with leases, which wait for responses, so that the caller can continue to read.
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

    /** Waits until all additions are written. */
    void drain() {
        flush();
        pauseWhile(() -> !isIdle());
    }

    /** Runs a task on the writer thread between two batches and waits for it. For one other thread at a time. */
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

    /** Starts the writer thread for a large or old batch, without {@link #flush}. */
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

    /** Waits for the next task or batch; null at the end. */
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

    /** Completes the caller's write: the writer thread is woken only for a task. */
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

    /** Interrupts and ends the writer thread. Idempotent. */
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
