package io.understudy.gateway.read;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Session;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits the bytes held at a time, first come, first served. Excess requests are queued until their deadline; the queue
 * is bounded. Shared by all event loops.
 *
 * <p>A session holds and requests at most its share, or one larger answer. Beyond that it waits for its own answers
 * only, so a slow client does not block others. All sessions of a client leave a share to others, unless two of the
 * largest answers take it.
 */
final class ByteBudget {

    /** Number of sessions that can use the whole budget, unless they are of one client. */
    private static final int SHARES = 4;

    private final Vertx vertx;
    private final long maxBytes;
    private final long maxBytesOfClient;
    private final int maxWaiting;

    // Under this object's lock.
    private final Level whole;
    /** By session and by name of a client; only those in use. */
    private final Map<Object, Level> levels = new HashMap<>();
    /** Number of queued requests, at all levels. */
    private int waits;

    private static final class Wait {

        private final Context loop;
        private final Level session;
        private final long bytes;
        private final Promise<Hold> promise = Promise.promise();
        /** Where it is queued; null once it is served. */
        private @Nullable Level at;

        Wait(Context loop, Level session, long bytes, Level at) {
            this.loop = loop;
            this.session = session;
            this.bytes = bytes;
            this.at = at;
        }
    }

    /** The bound of a session, a client or all. A request passes them in this order. */
    private static final class Level {

        private final Object key;
        private final long maxBytes;
        private final @Nullable Level above;
        /** Bytes that have passed, and are held or queued above. */
        private long bytes;
        /** Queued until earlier answers are released. */
        private final Set<Wait> waiting = new LinkedHashSet<>();

        Level(Object key, long maxBytes, @Nullable Level above) {
            this.key = key;
            this.maxBytes = maxBytes;
            this.above = above;
        }

        private boolean hasRoomFor(long wanted) {
            return bytes == 0 || bytes + wanted <= maxBytes;
        }
    }

    /** @param largest number of bytes that a request of unknown size takes */
    ByteBudget(Vertx vertx, long maxBytes, long largest, int maxWaiting) {
        this.vertx = vertx;
        this.maxBytes = maxBytes;
        // A kube-apiserver is one client: its reads must not wait for each other.
        this.maxBytesOfClient = Math.max(maxBytes - maxBytes / SHARES, Math.min(2 * largest, maxBytes));
        this.maxWaiting = maxWaiting;
        this.whole = new Level("", maxBytes, null);
    }

    /**
     * Reserves bytes, capped at the whole budget.
     *
     * @param session that holds them
     * @param deadlineNanos by {@link System#nanoTime}
     * @return completes on the calling event loop; fails with etcd's error at the deadline or if the queue is full
     */
    Future<Hold> take(Session session, long bytes, long deadlineNanos) {
        long wanted = wanted(bytes);
        Wait wait;
        synchronized (this) {
            Level level = level(session);
            Level full = pass(level, wanted);
            if (full == null) {
                return Future.succeededFuture(new Hold(level, wanted));
            }
            if (waits >= maxWaiting) {
                give(level, full, wanted);
                return Future.failedFuture(ApiException.tooManyRequests());
            }
            wait = new Wait(vertx.getOrCreateContext(), level, wanted, full);
            full.waiting.add(wait);
            waits++;
        }
        long millis = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
        long timer = vertx.setTimer(Math.max(1, millis), late -> giveUp(wait));
        return wait.promise.future().onComplete(over -> vertx.cancelTimer(timer));
    }

    /** As {@link #take}, before all queued requests, but null if there is no room now. */
    synchronized @Nullable Hold takeNow(Session session, long bytes) {
        long wanted = wanted(bytes);
        Level level = level(session);
        for (Level each = level; each != null; each = each.above) {
            if (!each.hasRoomFor(wanted)) {
                return null;
            }
        }
        for (Level each = level; each != null; each = each.above) {
            add(each, wanted);
        }
        return new Hold(level, wanted);
    }

    /** Bytes held now. */
    synchronized long held() {
        return whole.bytes;
    }

    /** At least one, so that the levels of all answers are in use. */
    private long wanted(long bytes) {
        return Math.max(1, Math.min(bytes, maxBytes));
    }

    private Level level(Session session) {
        Level known = levels.get(session);
        if (known != null) {
            return known;
        }
        String name = session.client();
        Level client = levels.get(name);
        return new Level(
                session, maxBytes / SHARES, client == null ? new Level(name, maxBytesOfClient, whole) : client);
    }

    private void add(Level level, long more) {
        level.bytes += more;
        if (level != whole) {
            levels.put(level.key, level);
        }
    }

    /** Passes the levels from that one on. Returns the one where the request has to wait; null if none. */
    private @Nullable Level pass(@Nullable Level from, long wanted) {
        Level next = from;
        while (next != null && next.waiting.isEmpty() && next.hasRoomFor(wanted)) {
            add(next, wanted);
            next = next.above;
        }
        return next;
    }

    private void giveUp(Wait wait) {
        boolean late;
        synchronized (this) {
            Level at = wait.at;
            late = at != null && at.waiting.remove(wait);
            if (late) {
                waits--;
                give(wait.session, at, wait.bytes);
            }
        }
        if (late) {
            wait.promise.fail(ApiException.tooManyRequests());
        }
    }

    /** Releases bytes of the levels below {@code end}, null for all, and serves queued requests. */
    private synchronized void give(Level session, @Nullable Level end, long bytes) {
        for (Level each = session; each != end && each != null; each = each.above) {
            each.bytes -= bytes;
        }
        serve(session);
    }

    /** Serves the requests that are queued from that level on, the uppermost first. */
    private void serve(Level level) {
        if (level.above != null) {
            serve(level.above);
        }
        while (!level.waiting.isEmpty()) {
            Wait next = level.waiting.iterator().next();
            if (!level.hasRoomFor(next.bytes)) {
                break;
            }
            level.waiting.remove(next);
            add(level, next.bytes);
            next.at = pass(level.above, next.bytes);
            if (next.at == null) {
                waits--;
                Hold hold = new Hold(next.session, next.bytes);
                next.loop.runOnContext(now -> next.promise.complete(hold));
            } else {
                next.at.waiting.add(next);
            }
        }
        if (level.bytes == 0) {
            levels.remove(level.key, level);
        }
    }

    /** Reserved bytes, until released. Confined to one event loop. */
    final class Hold {

        private final Level session;
        private long bytes;

        private Hold(Level session, long bytes) {
            this.session = session;
            this.bytes = bytes;
        }

        /** Adjusts the reservation to the actual size. */
        void become(long actual) {
            long unused = bytes - actual;
            bytes = actual;
            give(session, null, unused);
        }

        /** Idempotent. */
        void release() {
            become(0);
        }
    }
}
