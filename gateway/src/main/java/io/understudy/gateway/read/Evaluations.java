package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Session;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Evaluates reads that take too long for an event loop, on a few worker threads. Excess reads are queued. Thread-safe.
 *
 * <p>Invariant S4: no read occupies an event loop for long, and a long read returns nothing older than its session had
 * seen when it arrived.
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

    /**
     * Limits concurrent tasks and the queue for them, first come, first served. A session has a share of the queue. Shared by
     * all event loops.
     */
    static final class ConcurrencyLimiter {

        /** Number of sessions that can use the whole queue. */
        private static final int SHARES = 4;

        private final Vertx vertx;
        private final int maxUnderWay;
        private final int maxWaiting;

        // Under this object's lock.
        private final Queue<Wait> waiting = new ArrayDeque<>();

        /** Number of queued tasks. */
        private final Map<Session, Integer> ofSession = new HashMap<>();

        private int underWay;

        private record Wait(Session session, Runnable begin) {}

        ConcurrencyLimiter(Vertx vertx, int maxUnderWay, int maxWaiting) {
            this.vertx = vertx;
            this.maxUnderWay = maxUnderWay;
            this.maxWaiting = maxWaiting;
        }

        /**
         * Starts {@code work} on the calling event loop when it is within the limit.
         *
         * @return the result, on that loop; fails with etcd's error if the queue, or the session's share of it, is full
         */
        <T> Future<T> take(Session session, Supplier<Future<T>> work) {
            Context loop = vertx.getOrCreateContext();
            Promise<T> promise = Promise.promise();
            Runnable task = () -> begin(work).onComplete(result -> {
                over();
                promise.handle(result);
            });
            synchronized (this) {
                if (underWay >= maxUnderWay) {
                    if (waiting.size() >= maxWaiting
                            || ofSession.getOrDefault(session, 0) >= Math.max(1, maxWaiting / SHARES)) {
                        return Future.failedFuture(ApiException.tooManyRequests());
                    }
                    ofSession.merge(session, 1, Integer::sum);
                    waiting.add(new Wait(session, () -> loop.runOnContext(now -> task.run())));
                    return promise.future();
                }
                underWay++;
            }
            task.run();
            return promise.future();
        }

        /** A failed task releases its slot too. */
        private static <T> Future<T> begin(Supplier<Future<T>> work) {
            try {
                return work.get();
            } catch (RuntimeException | Error e) {
                return Future.failedFuture(e);
            }
        }

        /** Number of queued tasks. */
        synchronized int waiting() {
            return waiting.size();
        }

        private void over() {
            Wait following;
            synchronized (this) {
                following = waiting.poll();
                if (following == null) {
                    underWay--;
                    return;
                }
                ofSession.computeIfPresent(following.session, (same, tasks) -> tasks == 1 ? null : tasks - 1);
            }
            following.begin.run();
        }
    }
}
