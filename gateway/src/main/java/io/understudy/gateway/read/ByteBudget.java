package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Session;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.WeakHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits the bytes held at a time, first come, first served. Excess requests are queued until their deadline; the queue
 * is bounded. Shared by all event loops.
 *
 * <p>A session holds and requests at most its share, or one larger answer. Beyond that it waits for its own answers
 * only, so a slow client does not block others.
 */
final class ByteBudget {

    /** Number of sessions that can use the whole budget. */
    private static final int SHARES = 4;

    private final Vertx vertx;
    private final long maxBytes;
    private final int maxWaiting;

    // Under this object's lock.
    /** Queued within the share of their session. */
    private final Set<Wait> waiting = new LinkedHashSet<>();

    private final Map<Session, Share> shares = new WeakHashMap<>();
    /** Number of queued requests, of both kinds. */
    private int waits;

    private long held;

    private record Wait(Context loop, Share share, long bytes, Promise<Hold> promise) {}

    /** The share of a session. */
    private final class Share {

        /** Bytes held or queued within the share. */
        private long bytes;
        /** Queued until earlier answers of the session are released. */
        private final Set<Wait> waiting = new LinkedHashSet<>();

        private boolean hasRoomFor(long wanted) {
            return bytes == 0 || bytes + wanted <= maxBytes / SHARES;
        }
    }

    ByteBudget(Vertx vertx, long maxBytes, int maxWaiting) {
        this.vertx = vertx;
        this.maxBytes = maxBytes;
        this.maxWaiting = maxWaiting;
    }

    /**
     * Reserves bytes, capped at the whole budget.
     *
     * @param session that holds them
     * @param deadlineNanos by {@link System#nanoTime}
     * @return completes on the calling event loop; fails with etcd's error at the deadline or if the queue is full
     */
    Future<Hold> take(Session session, long bytes, long deadlineNanos) {
        long wanted = Math.min(bytes, maxBytes);
        Wait wait;
        synchronized (this) {
            Share share = shares.computeIfAbsent(session, first -> new Share());
            boolean hasShare = share.waiting.isEmpty() && share.hasRoomFor(wanted);
            if (hasShare && waiting.isEmpty() && held + wanted <= maxBytes) {
                share.bytes += wanted;
                held += wanted;
                return Future.succeededFuture(new Hold(share, wanted));
            }
            if (waits >= maxWaiting) {
                return Future.failedFuture(ApiException.tooManyRequests());
            }
            wait = new Wait(vertx.getOrCreateContext(), share, wanted, Promise.promise());
            waits++;
            if (hasShare) {
                share.bytes += wanted;
                waiting.add(wait);
            } else {
                share.waiting.add(wait);
            }
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
        long timer = vertx.setTimer(Math.max(1, millis), late -> giveUp(wait));
        return wait.promise.future().onComplete(over -> vertx.cancelTimer(timer));
    }

    /** As {@link #take}, before all queued requests, but null if there is no room now. */
    synchronized @Nullable Hold takeNow(Session session, long bytes) {
        long wanted = Math.min(bytes, maxBytes);
        Share share = shares.computeIfAbsent(session, first -> new Share());
        if (!share.hasRoomFor(wanted) || held + wanted > maxBytes) {
            return null;
        }
        share.bytes += wanted;
        held += wanted;
        return new Hold(share, wanted);
    }

    /** Bytes held now. */
    synchronized long held() {
        return held;
    }

    private void giveUp(Wait wait) {
        boolean late;
        synchronized (this) {
            boolean hadShare = waiting.remove(wait);
            late = hadShare || wait.share.waiting.remove(wait);
            if (late) {
                waits--;
            }
            // Others may have been queued behind it.
            give(wait.share, hadShare ? wait.bytes : 0, 0);
        }
        if (late) {
            wait.promise.fail(ApiException.tooManyRequests());
        }
    }

    /** Releases bytes of the share and of the whole budget, and serves queued requests. */
    private synchronized void give(Share share, long ofShare, long ofWhole) {
        share.bytes -= ofShare;
        held -= ofWhole;
        while (!share.waiting.isEmpty()) {
            Wait next = share.waiting.iterator().next();
            if (!share.hasRoomFor(next.bytes)) {
                break;
            }
            share.waiting.remove(next);
            share.bytes += next.bytes;
            waiting.add(next);
        }
        while (!waiting.isEmpty()) {
            Wait next = waiting.iterator().next();
            if (held + next.bytes > maxBytes) {
                break;
            }
            waiting.remove(next);
            waits--;
            held += next.bytes;
            Hold hold = new Hold(next.share, next.bytes);
            next.loop.runOnContext(now -> next.promise.complete(hold));
        }
    }

    /** Reserved bytes, until released. Confined to one event loop. */
    final class Hold {

        private final Share share;
        private long bytes;

        private Hold(Share share, long bytes) {
            this.share = share;
            this.bytes = bytes;
        }

        /** Adjusts the reservation to the actual size. */
        void become(long actual) {
            long unused = bytes - actual;
            bytes = actual;
            give(share, unused, unused);
        }

        /** Idempotent. */
        void release() {
            become(0);
        }
    }
}
