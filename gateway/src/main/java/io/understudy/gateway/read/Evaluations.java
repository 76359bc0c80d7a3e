package io.understudy.gateway.read;

import io.understudy.gateway.caller.Session;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Evaluates reads that take too long for an event loop, on a few worker threads. Excess reads are queued. Thread-safe.
 *
 * <p>Invariant S4: no read occupies an event loop for long, and a long read returns nothing older than its session has
 * seen.
 */
final class Evaluations {

    /**
     * Most entries scanned on an event loop. Sorting that many by value, the slowest case, takes half a millisecond; a
     * thread switch takes a tenth of that.
     */
    static final long MOST_ON_LOOP = 2_000;

    /** Queue length: at tens of milliseconds each, later reads would exceed their clients' deadlines. */
    private static final int MAX_WAITING = 1_000;

    private final WorkerExecutor workers;
    private final ConcurrencyLimiter limiter;
    private final ReadMetrics metrics;

    Evaluations(Vertx vertx, ReadMetrics metrics) {
        // The event loops need the other processors.
        int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        this.workers = vertx.createSharedWorkerExecutor("understudy-evaluations", threads, 1, TimeUnit.HOURS);
        this.limiter = new ConcurrencyLimiter(vertx, threads, MAX_WAITING);
        this.metrics = metrics;
        metrics.observeEvaluationsWaiting(limiter::waiting);
    }

    /** Runs {@code begin} on the calling event loop when a worker is free, as {@link ConcurrencyLimiter#take} does. */
    <T> Future<T> inTurn(Session session, Supplier<Future<T>> begin) {
        return limiter.take(session, begin);
    }

    /** Runs {@code evaluation} on a worker, within {@link #inTurn}; completes on the calling event loop. */
    <T> Future<T> run(Callable<T> evaluation) {
        return workers.executeBlocking(
                () -> {
                    long began = System.nanoTime();
                    try {
                        return evaluation.call();
                    } finally {
                        metrics.evaluated(System.nanoTime() - began);
                    }
                },
                false);
    }

    void close() {
        Future<Void> unused = workers.close();
    }
}
