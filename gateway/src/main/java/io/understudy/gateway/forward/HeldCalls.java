package io.understudy.gateway.forward;

import io.understudy.gateway.caller.Session;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Limits the unsent calls of a gateway, by number and bytes. A session holds at most its share. Thread-safe. */
final class HeldCalls {

    static final int MAX_CALLS = 10_000;
    static final long MAX_BYTES = 64L << 20;
    /** Number of sessions that can use the whole capacity. */
    static final int SHARES = 4;

    private static final Held NONE = new Held(0, 0);

    // Under this object's lock.
    private final Map<Session, Held> bySession = new HashMap<>();
    private Held all = NONE;

    private record Held(int calls, long bytes) {

        Held plus(int moreCalls, long moreBytes) {
            return new Held(calls + moreCalls, bytes + moreBytes);
        }

        boolean fits(int shares) {
            return calls <= MAX_CALLS / shares && bytes <= MAX_BYTES / shares;
        }
    }

    synchronized int count() {
        return all.calls();
    }

    /**
     * Holds a call until a condition is met.
     *
     * @param condition failed by this at the timeout
     * @param then run on {@code loop}, with whether the condition was met in time
     * @return false if there is no capacity; then nothing is run
     */
    boolean hold(
            Session session,
            byte @Nullable [] request,
            CompletableFuture<?> condition,
            long untilNanos,
            Executor loop,
            Consumer<Boolean> then) {
        int size = request == null ? 0 : request.length;
        if (!take(session, size)) {
            return false;
        }
        long left = Math.max(0, untilNanos - System.nanoTime());
        var unused = condition.orTimeout(left, TimeUnit.NANOSECONDS).whenComplete((met, failed) -> {
            release(session, size);
            loop.execute(() -> then.accept(failed == null));
        });
        return true;
    }

    /** A single call may be larger than a share. */
    private synchronized boolean take(Session session, int size) {
        Held ofSession = bySession.getOrDefault(session, NONE).plus(1, size);
        Held ofAll = all.plus(1, size);
        if (!ofAll.fits(1) || (ofSession.calls() > 1 && !ofSession.fits(SHARES))) {
            return false;
        }
        all = ofAll;
        bySession.put(session, ofSession);
        return true;
    }

    private synchronized void release(Session session, int size) {
        all = all.plus(-1, -size);
        bySession.computeIfPresent(session, (same, held) -> held.calls() == 1 ? null : held.plus(-1, -size));
    }
}
