package io.understudy.gateway.forward;

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
 * Calls that reached no member of a source, for one duty. They take turns at trying again, so that the members get one
 * call at a time; once one reaches a member, all others follow. For any thread.
 */
final class Retries {

    private static final long FIRST_PAUSE_MILLIS = 25;
    private static final long LONGEST_PAUSE_MILLIS = 400;

    private final HeldCalls held;
    // Under this object's lock.
    private final Set<CompletableFuture<Void>> waiting = new LinkedHashSet<>();
    private long pauseMillis = FIRST_PAUSE_MILLIS;
    private boolean ticking;

    /** What cancels calls that no connection has taken yet. */
    private final Set<Runnable> unsent = ConcurrentHashMap.newKeySet();

    private volatile boolean over;

    Retries(HeldCalls held) {
        this.held = held;
    }

    /** Whether another source has taken the place of this one. */
    boolean areOver() {
        return over;
    }

    /** Another source has taken the place of this one. */
    void end() {
        over = true;
        unsent.forEach(Runnable::run);
        reached();
    }

    /**
     * Has a call wait for its turn.
     *
     * @param turn completed with the wait, which ends if it is completed before
     * @param then run on {@code loop} with true at its turn, with false if that did not come in time
     * @return whether there is room; if not, nothing is run
     */
    boolean hold(
            CompletableFuture<Void> turn,
            byte @Nullable [] request,
            long untilNanos,
            Executor loop,
            Consumer<Boolean> then) {
        if (!held.hold(request, turn, untilNanos, loop, then)) {
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

    /** Runs {@code cancel}, on any thread, if another source takes the place of this one before {@link #sent}. */
    void unsent(Runnable cancel) {
        unsent.add(cancel);
        if (over) {
            cancel.run();
        }
    }

    /** A connection has taken the call, or it has ended. */
    void sent(Runnable cancel) {
        unsent.remove(cancel);
    }

    /** A call that had waited reached a member. */
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
