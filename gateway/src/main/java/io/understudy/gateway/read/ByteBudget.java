package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Lets so many bytes be held at a time, first come, first served. Who comes when there is no room waits, as long as its
 * deadline allows and not too many do. For all event loops.
 */
final class ByteBudget {

    private final Vertx vertx;
    private final long maxBytes;
    private final int maxWaiting;

    // Under this object's lock.
    private final Set<Wait> waiting = new LinkedHashSet<>();
    private long held;

    private record Wait(Context loop, long bytes, Promise<Hold> promise) {}

    ByteBudget(Vertx vertx, long maxBytes, int maxWaiting) {
        this.vertx = vertx;
        this.maxBytes = maxBytes;
        this.maxWaiting = maxWaiting;
    }

    /**
     * Room for so many bytes, or for all there can be if that is less.
     *
     * @param deadlineNanos by {@link System#nanoTime}
     * @return on the event loop that this is called on; fails with etcd's error if it waited in vain, or too many wait
     */
    Future<Hold> take(long bytes, long deadlineNanos) {
        long wanted = Math.min(bytes, maxBytes);
        Wait wait;
        synchronized (this) {
            if (waiting.isEmpty() && held + wanted <= maxBytes) {
                held += wanted;
                return Future.succeededFuture(new Hold(wanted));
            }
            if (waiting.size() >= maxWaiting) {
                return Future.failedFuture(ApiException.tooManyRequests());
            }
            wait = new Wait(vertx.getOrCreateContext(), wanted, Promise.promise());
            waiting.add(wait);
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
        long timer = vertx.setTimer(Math.max(1, millis), late -> giveUp(wait));
        return wait.promise.future().onComplete(over -> vertx.cancelTimer(timer));
    }

    /** Bytes that are taken now. */
    synchronized long held() {
        return held;
    }

    private void giveUp(Wait wait) {
        boolean late;
        synchronized (this) {
            late = waiting.remove(wait);
        }
        if (late) {
            wait.promise.fail(ApiException.tooManyRequests());
            // It may have been what the others waited behind.
            give(0);
        }
    }

    /** Gives bytes back, and to those that wait for them. */
    private void give(long bytes) {
        synchronized (this) {
            held -= bytes;
            while (!waiting.isEmpty()) {
                Wait next = waiting.iterator().next();
                if (held + next.bytes > maxBytes) {
                    return;
                }
                waiting.remove(next);
                held += next.bytes;
                Hold hold = new Hold(next.bytes);
                next.loop.runOnContext(now -> next.promise.complete(hold));
            }
        }
    }

    /** Bytes that are taken, until they are given back. For one event loop. */
    final class Hold {

        private long bytes;

        private Hold(long bytes) {
            this.bytes = bytes;
        }

        /** It has turned out how many there are. */
        void become(long actual) {
            long unused = bytes - actual;
            bytes = actual;
            give(unused);
        }

        /** Idempotent. */
        void release() {
            become(0);
        }
    }
}
