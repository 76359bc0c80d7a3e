package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.Supplier;

/** Lets so many works be under way at a time, and so many wait for that, first come, first served. For all event loops. */
final class Turns {

    private final Vertx vertx;
    private final int maxUnderWay;
    private final int maxWaiting;

    // Under this object's lock.
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int underWay;

    Turns(Vertx vertx, int maxUnderWay, int maxWaiting) {
        this.vertx = vertx;
        this.maxUnderWay = maxUnderWay;
        this.maxWaiting = maxWaiting;
    }

    /**
     * Begins {@code work} when it is its turn, on the event loop that this is called on.
     *
     * @return what it comes to, on that loop; fails with etcd's error if too many wait
     */
    <T> Future<T> take(Supplier<Future<T>> work) {
        Context loop = vertx.getOrCreateContext();
        Promise<T> promise = Promise.promise();
        Runnable turn = () -> begin(work).onComplete(result -> {
            over();
            promise.handle(result);
        });
        synchronized (this) {
            if (underWay >= maxUnderWay) {
                if (waiting.size() >= maxWaiting) {
                    return Future.failedFuture(ApiException.tooManyRequests());
                }
                waiting.add(() -> loop.runOnContext(now -> turn.run()));
                return promise.future();
            }
            underWay++;
        }
        turn.run();
        return promise.future();
    }

    /** Whatever goes wrong with one, the others have their turns. */
    private static <T> Future<T> begin(Supplier<Future<T>> work) {
        try {
            return work.get();
        } catch (RuntimeException | Error e) {
            return Future.failedFuture(e);
        }
    }

    /** Works that wait for their turn. */
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
