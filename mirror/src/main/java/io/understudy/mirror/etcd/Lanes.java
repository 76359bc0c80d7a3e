package io.understudy.mirror.etcd;

import io.understudy.mirror.sink.SinkException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The running lanes of a synchronisation, a thread each. One task waits at most, and the caller blocks while all lanes
 * are busy, as back pressure. A failure in one ends all; the next call throws it.
 *
 * <p>All methods but {@link #close} are for one thread.
 *
 * <p>Invariant M15: busy lanes hold back the feed, and all lanes fail together.
 *
 * @param <L> a lane, used by its own thread alone
 */
final class Lanes<L> implements AutoCloseable {

    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(5);

    private final List<Thread> threads;
    private @Nullable Consumer<L> waiting;
    private int busy;
    private boolean closed;
    private @Nullable Throwable failure;

    private Lanes(String mirror, List<L> lanes) {
        this.threads = IntStream.range(0, lanes.size())
                .mapToObj(i -> new Thread(() -> work(lanes.get(i)), "mirror-" + mirror + "-lane-" + i))
                .toList();
    }

    /** Starts a thread for each of {@code lanes}. */
    static <L> Lanes<L> start(String mirror, List<L> lanes) {
        Lanes<L> started = new Lanes<>(mirror, lanes);
        started.threads.forEach(thread -> {
            thread.setDaemon(true);
            thread.start();
        });
        return started;
    }

    /** Hands {@code work} to the next free lane; blocks while another task waits. */
    synchronized void hand(Consumer<L> work) {
        awaitUntil(() -> waiting == null, "a free lane");
        waiting = work;
        notifyAll();
    }

    /** Waits until all tasks are done. */
    synchronized void drain() {
        awaitUntil(() -> waiting == null && busy == 0, "lanes to complete their writes");
    }

    /** Interrupts all lanes and waits a few seconds at most for their end. Idempotent. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        threads.forEach(Thread::interrupt);
        long deadline = System.nanoTime() + CLOSE_DEADLINE.toNanos();
        try {
            for (Thread thread : threads) {
                TimeUnit.NANOSECONDS.timedJoin(thread, Math.max(1, deadline - System.nanoTime()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void work(L lane) {
        try {
            for (Consumer<L> next = take(); next != null; next = take()) {
                next.accept(lane);
                done();
            }
        } catch (Throwable e) {
            failed(e);
        }
    }

    private synchronized @Nullable Consumer<L> take() throws InterruptedException {
        while (waiting == null && failure == null && !closed) {
            wait();
        }
        Consumer<L> next = waiting;
        if (closed || failure != null || next == null) {
            return null;
        }
        waiting = null;
        busy++;
        notifyAll();
        return next;
    }

    private synchronized void done() {
        busy--;
        notifyAll();
    }

    private synchronized void failed(Throwable cause) {
        if (failure == null && !closed) {
            failure = cause;
        }
        notifyAll();
    }

    private synchronized void awaitUntil(BooleanSupplier reached, String what) {
        try {
            while (!reached.getAsBoolean() && failure == null) {
                wait();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SinkException.Stopped("waiting for " + what);
        }
        requireWell();
    }

    private void requireWell() {
        if (failure instanceof RuntimeException unchecked) {
            throw unchecked;
        }
        if (failure instanceof Error error) {
            throw error;
        }
        if (failure != null) {
            throw new IllegalStateException("lane failed", failure);
        }
    }
}
