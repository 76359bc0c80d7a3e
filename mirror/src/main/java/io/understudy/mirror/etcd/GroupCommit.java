package io.understudy.mirror.etcd;

import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.Position;
import java.time.Instant;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A thread that writes one batch while the next one gathers. What is added while nothing is being written is written at
 * once; the busier the target, the larger the batches. At most two are held: who adds to a full one waits.
 *
 * <p>What fails on the thread is thrown at whoever comes next, and nothing is written after it.
 */
final class GroupCommit implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GroupCommit.class);

    private static final long CLOSE_MILLIS = 3_000;

    private final TargetHistory history;
    private final Consumer<CommitBatch> writer;
    private final Thread thread;

    private boolean started;
    private boolean closed;
    private boolean writing;
    private CommitBatch gathering;
    /** Wants to be done between batches. */
    private @Nullable Runnable errand;

    private @Nullable Throwable failure;

    /** @param writer writes a batch, blocking; called on a thread of its own */
    GroupCommit(String name, TargetHistory history, Consumer<CommitBatch> writer) {
        this.history = history;
        this.writer = writer;
        this.gathering = new CommitBatch(history);
        this.thread = new Thread(this::run, name);
        this.thread.setDaemon(true);
    }

    /**
     * Adds a commit, once there is room for it.
     *
     * @param room how many bytes one transaction takes
     */
    synchronized void add(TargetCommit next, long room) {
        pauseWhile(() -> !gathering.takes(next, room));
        gathering.add(next, room);
        wake();
    }

    /**
     * Nothing happened from the last commit to there.
     *
     * @param wanted asked only when nothing is left to write: whether it is to be written all the same
     * @return false if not, and nothing is left to write
     */
    synchronized boolean advance(Position reached, Instant at, BooleanSupplier wanted) {
        requireGoing();
        if (isIdle() && !wanted.getAsBoolean()) {
            return false;
        }
        gathering.advanceTo(reached, at);
        wake();
        return true;
    }

    /** Waits until all that was added is written. */
    synchronized void drain() {
        pauseWhile(() -> !isIdle());
    }

    /** Has something done on the thread, between two batches, and waits for it. For one other thread at a time. */
    synchronized void between(Runnable work) {
        requireGoing();
        errand = work;
        wake();
        pauseWhile(() -> errand == work);
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
        requireGoing();
        while (condition.getAsBoolean()) {
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SinkException.Stopped("waiting for what is being written to the target");
            }
            requireGoing();
        }
    }

    private void requireGoing() {
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure instanceof RuntimeException exception) {
            throw exception;
        }
        if (closed) {
            throw new IllegalStateException("the sink is closed");
        }
    }

    private void run() {
        try {
            for (Runnable next = next(); next != null; next = next()) {
                next.run();
            }
        } catch (Throwable e) {
            synchronized (this) {
                failure = e;
                notifyAll();
            }
        }
    }

    /** Waits for what to do next; null at the end. */
    private synchronized @Nullable Runnable next() throws InterruptedException {
        writing = false;
        notifyAll();
        while (!closed && gathering.isEmpty() && errand == null) {
            wait();
        }
        if (closed) {
            return null;
        }
        writing = true;
        Runnable work = errand;
        if (work != null) {
            return () -> {
                work.run();
                done(work);
            };
        }
        CommitBatch full = gathering;
        gathering = new CommitBatch(history);
        notifyAll();
        return () -> writer.accept(full);
    }

    private synchronized void done(Runnable work) {
        if (errand == work) {
            errand = null;
        }
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
            LOG.warn("a write is still under way thread={}", thread.getName());
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
