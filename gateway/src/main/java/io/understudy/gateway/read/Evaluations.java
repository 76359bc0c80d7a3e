package io.understudy.gateway.read;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Where answers are put together that take too long for an event loop: on a few threads of their own, one answer on each,
 * while others wait their turn. For all event loops.
 *
 * <p>Invariant S4: no read occupies an event loop for long, and a long read returns nothing older than its session has
 * seen.
 */
final class Evaluations {

    /**
     * Entries that are looked at on an event loop, at most. To sort so many by their values, which takes longest, takes half
     * a millisecond; to have another thread do it, a tenth of that.
     */
    static final long MOST_ON_LOOP = 2_000;

    /** A burst of so many passes; at tens of milliseconds each, later ones would exceed the clients' deadlines. */
    private static final int MAX_WAITING = 1_000;

    private final WorkerExecutor workers;
    private final Turns turns;
    private final ReadMetrics metrics;

    Evaluations(Vertx vertx, ReadMetrics metrics) {
        // The loops have work for the other processors.
        int threads = Math.max(1, Runtime.getRuntime().availableProcessors() / 2);
        this.workers = vertx.createSharedWorkerExecutor("understudy-evaluations", threads, 1, TimeUnit.HOURS);
        this.turns = new Turns(vertx, threads, MAX_WAITING);
        this.metrics = metrics;
        metrics.observeEvaluationsWaiting(turns::waiting);
    }

    /** Runs {@code begin} when a thread is free, on the event loop that this is called on, as {@link Turns#take} does. */
    <T> Future<T> inTurn(Supplier<Future<T>> begin) {
        return turns.take(begin);
    }

    /** Runs {@code evaluation} on a thread of its own. For those whose turn it is; gives the result on the caller's loop. */
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
