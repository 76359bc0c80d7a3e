package io.understudy.cluster.observe;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Measures how late this machine runs its own threads. A deadline that passes meanwhile proves nothing about a member.
 *
 * <p>Has a thread of its own.
 */
final class Lateness implements AutoCloseable {

    private static final long TICK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final CountDownLatch closed = new CountDownLatch(1);
    private final AtomicLong lateNanos = new AtomicLong();
    private final Thread thread = new Thread(this::run, "lateness");

    private Lateness() {
        thread.setDaemon(true);
    }

    static Lateness measure() {
        Lateness lateness = new Lateness();
        lateness.thread.start();
        return lateness;
    }

    private void run() {
        try {
            long due = System.nanoTime() + TICK_NANOS;
            while (!closed.await(TICK_NANOS, TimeUnit.NANOSECONDS)) {
                long now = System.nanoTime();
                lateNanos.addAndGet(Math.max(0, now - due));
                due = now + TICK_NANOS;
            }
        } catch (InterruptedException e) {
            // Nothing interrupts it but the end of the process.
            Thread.currentThread().interrupt();
        }
    }

    /** The sum of all delays so far. */
    Duration total() {
        return Duration.ofNanos(lateNanos.get());
    }

    @Override
    public void close() {
        closed.countDown();
    }
}
