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

/**
 * Lets so many bytes be held at a time, first come, first served. Who comes when there is no room waits, as long as its
 * deadline allows and not too many do. For all event loops.
 *
 * <p>One session holds and waits for no more than its share, or one answer that is larger: beyond that it waits for itself,
 * while others go on. So a client that takes nothing of its answers doesn't keep others from theirs.
 */
final class ByteBudget {

    /** So many sessions have it all. */
    private static final int SHARES = 4;

    private final Vertx vertx;
    private final long maxBytes;
    private final int maxWaiting;

    // Under this object's lock.
    /** Waits for the others, each within its session's share. */
    private final Set<Wait> waiting = new LinkedHashSet<>();

    private final Map<Session, Share> shares = new WeakHashMap<>();
    /** Waits for the others or for its own session. */
    private int waits;

    private long held;

    private record Wait(Context loop, Share share, long bytes, Promise<Hold> promise) {}

    /** Of a session. */
    private final class Share {

        /** What it holds, or waits for among the others. */
        private long bytes;
        /** Waits for the session to take what it was answered before. */
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
     * Room for so many bytes, or for all there can be if that is less.
     *
     * @param session for which they are held
     * @param deadlineNanos by {@link System#nanoTime}
     * @return on the event loop that this is called on; fails with etcd's error if it waited in vain, or too many wait
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

    /** Bytes that are taken now. */
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
            // It may have been what others waited behind.
            give(wait.share, hadShare ? wait.bytes : 0, 0);
        }
        if (late) {
            wait.promise.fail(ApiException.tooManyRequests());
        }
    }

    /** Gives bytes back, of the session's share and of the whole, and to those that wait for them. */
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

    /** Bytes that are taken, until they are given back. For one event loop. */
    final class Hold {

        private final Share share;
        private long bytes;

        private Hold(Share share, long bytes) {
            this.share = share;
            this.bytes = bytes;
        }

        /** It has turned out how many there are. */
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
