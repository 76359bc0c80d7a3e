package io.understudy.gateway.forward;

import io.understudy.gateway.caller.Session;
import io.understudy.gateway.forward.HeldWrites.HeldCalls;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Queues calls that reached no member of a source, per duty. They are retried one at a time, to limit the load on the
 * members; once one reaches a member, all others follow. Thread-safe.
 */
final class Retries {

    private static final long FIRST_PAUSE_MILLIS = 25;
    private static final long LONGEST_PAUSE_MILLIS = 400;

    private final HeldCalls held;
    // Under this object's lock.
    private final Set<CompletableFuture<Void>> waiting = new LinkedHashSet<>();
    private long pauseMillis = FIRST_PAUSE_MILLIS;
    private boolean ticking;

    /** Cancels calls not yet taken by a connection. */
    private final Set<Runnable> unsent = ConcurrentHashMap.newKeySet();

    private volatile boolean over;

    Retries(HeldCalls held) {
        this.held = held;
    }

    /** Whether another source has replaced this one. */
    boolean areOver() {
        return over;
    }

    /** Ends all calls, since another source has replaced this one. */
    void end() {
        over = true;
        unsent.forEach(Runnable::run);
        reached();
    }

    /**
     * Queues a call.
     *
     * @param turn completed by this when the wait ends; completing it earlier ends the wait
     * @param then run on {@code loop}: with true at its turn, with false at the timeout
     * @return false if there is no capacity; then nothing is run
     */
    boolean hold(
            Session session,
            CompletableFuture<Void> turn,
            byte @Nullable [] request,
            long untilNanos,
            Executor loop,
            Consumer<Boolean> then) {
        if (!held.hold(session, request, turn, untilNanos, loop, then)) {
            return false;
        }
        synchronized (this) {
            waiting.add(turn);
            if (!ticking) {
                ticking = true;
                pauseMillis = FIRST_PAUSE_MILLIS;
                later();
            }
        }
        var unused = turn.whenComplete((come, late) -> forget(turn));
        return true;
    }

    /** Registers {@code cancel}, run on any thread if another source replaces this one before {@link #sent}. */
    void unsent(Runnable cancel) {
        unsent.add(cancel);
        if (over) {
            cancel.run();
        }
    }

    /** The call was taken by a connection, or has ended. */
    void sent(Runnable cancel) {
        unsent.remove(cancel);
    }

    /** A queued call reached a member. */
    void reached() {
        List<CompletableFuture<Void>> all;
        synchronized (this) {
            all = List.copyOf(waiting);
        }
        all.forEach(turn -> turn.complete(null));
    }

    @SuppressWarnings("CollectionUndefinedEquality") // No two are the same.
    private synchronized void forget(CompletableFuture<Void> turn) {
        waiting.remove(turn);
    }

    private void later() {
        CompletableFuture.delayedExecutor(pauseMillis, TimeUnit.MILLISECONDS, Runnable::run)
                .execute(this::tick);
    }

    private void tick() {
        CompletableFuture<Void> first;
        synchronized (this) {
            Iterator<CompletableFuture<Void>> turns = waiting.iterator();
            ticking = turns.hasNext();
            if (!ticking) {
                return;
            }
            first = turns.next();
            pauseMillis = Math.min(2 * pauseMillis, LONGEST_PAUSE_MILLIS);
            later();
        }
        first.complete(null);
    }
}
