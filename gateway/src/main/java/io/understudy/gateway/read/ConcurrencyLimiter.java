package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Supplier;

/** Limits concurrent tasks and the queue for them, first come, first served. Shared by all event loops. */
final class ConcurrencyLimiter {

    private final Vertx vertx;
    private final int maxUnderWay;
    private final int maxWaiting;

    // Under this object's lock.
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int underWay;

    ConcurrencyLimiter(Vertx vertx, int maxUnderWay, int maxWaiting) {
        this.vertx = vertx;
        this.maxUnderWay = maxUnderWay;
        this.maxWaiting = maxWaiting;
    }

    /**
     * Starts {@code work} on the calling event loop when it is within the limit.
     *
     * @return the result, on that loop; fails with etcd's error if the queue is full
     */
    <T> Future<T> take(Supplier<Future<T>> work) {
        Context loop = vertx.getOrCreateContext();
        Promise<T> promise = Promise.promise();
        Runnable task = () -> begin(work).onComplete(result -> {
            over();
            promise.handle(result);
        });
        synchronized (this) {
            if (underWay >= maxUnderWay) {
                if (waiting.size() >= maxWaiting) {
                    return Future.failedFuture(ApiException.tooManyRequests());
                }
                waiting.add(() -> loop.runOnContext(now -> task.run()));
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
        Runnable following;
        synchronized (this) {
            following = waiting.poll();
            if (following == null) {
                underWay--;
                return;
            }
        }
        following.run();
    }
}
