package io.understudy.cluster.observe;

import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats observations with timeouts while this machine is overloaded, with a longer timeout. So a verdict does not
 * depend on the load of the operator's machine.
 */
public final class PatientObserver implements ClusterObserver {

    private static final Logger LOG = LoggerFactory.getLogger(PatientObserver.class);

    private static final int ATTEMPTS = 4;

    /** Fraction of the timeout: with a longer delay a machine cannot judge others. */
    private static final int PART = 10;

    private final ClusterObserver observer;

    public PatientObserver(ClusterObserver observer) {
        this.observer = observer;
    }

    @Override
    public ClusterFacts observe(Duration patience) throws InterruptedException {
        for (int attempt = 1; ; attempt++) {
            Duration timeout = patience.multipliedBy(1L << (attempt - 1));
            try (Lateness lateness = Lateness.measure()) {
                try {
                    ClusterFacts facts = observer.observe(timeout);
                    boolean isInTime = facts.failures().values().stream().noneMatch(Failure::isTimeout);
                    if (isInTime || !isLate(lateness, timeout, attempt)) {
                        return facts;
                    }
                } catch (UnobservableException e) {
                    if (!isLate(lateness, timeout, attempt)) {
                        throw e;
                    }
                }
            }
        }
    }

    private static boolean isLate(Lateness lateness, Duration timeout, int attempt) {
        Duration late = lateness.total();
        boolean isLate = attempt < ATTEMPTS && late.multipliedBy(PART).compareTo(timeout) > 0;
        if (isLate) {
            LOG.atInfo()
                    .addKeyValue("late_ms", late.toMillis())
                    .addKeyValue("timeout_ms", timeout.toMillis())
                    .log("this machine is overloaded; repeating the observation with a longer timeout");
        }
        return isLate;
    }

    /**
     * Measures the scheduling delay of this machine. A deadline that passes meanwhile proves nothing about a member.
     *
     * <p>Has its own thread.
     */
    private static final class Lateness implements AutoCloseable {

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

        /** Returns the sum of all delays. */
        Duration total() {
            return Duration.ofNanos(lateNanos.get());
        }

        @Override
        public void close() {
            closed.countDown();
        }
    }
}
