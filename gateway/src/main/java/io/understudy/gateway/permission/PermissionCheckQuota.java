package io.understudy.gateway.permission;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Principal;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Limits concurrent permission checks; each takes up to a second per unresponsive member. Excess checks are queued until
 * a deadline; the queue is bounded. A principal has a share only, and principals without recent grants have a small
 * share together: any client can send an invalid token. Thread-safe.
 *
 * <p>etcd delays a token with a forged index until the deadline. Checks of unknown principals without a prompt answer
 * count apart, so that those do not delay the others.
 */
final class PermissionCheckQuota {

    static final int MAX = 8_000;
    static final int MAX_OF_UNKNOWN = 2_000;
    static final int MAX_PER_PRINCIPAL = 1_000;
    static final int MAX_PER_UNKNOWN = 100;
    static final int MAX_WAITING = 10_000;

    /** Most checks of unknown principals without a prompt answer. */
    static final int MAX_SLOW = 8_000;

    private static final long PROMPT_MILLIS = 100;

    private final Duration maxWait;

    // Under this object's lock.
    private final Pool known = new Pool(MAX, MAX_PER_PRINCIPAL);
    private final Pool unknown = new Pool(MAX_OF_UNKNOWN, MAX_PER_UNKNOWN);
    private int slow;
    private int waits;

    /** Checks of one kind of principals. */
    private static final class Pool {
        private final int max;
        private final int maxPerPrincipal;
        private int taken;
        /** Queued within the share of their principal. */
        private final Set<Wait> waiting = new LinkedHashSet<>();

        private final Map<Principal, Share> shares = new HashMap<>();

        Pool(int max, int maxPerPrincipal) {
            this.max = max;
            this.maxPerPrincipal = maxPerPrincipal;
        }
    }

    /** The checks of one principal. */
    private static final class Share {
        /** Under way, or queued within the share. */
        private int taken;
        /** Queued until others of the principal have ended. */
        private final Queue<Wait> waiting = new ArrayDeque<>(0);
    }

    private record Wait(Pool pool, Principal principal, CompletableFuture<Slot> granted) {
        @Override
        @SuppressWarnings("ReferenceEquality") // Each ends by itself.
        public boolean equals(@Nullable Object other) {
            return this == other;
        }

        @Override
        public int hashCode() {
            return System.identityHashCode(this);
        }
    }

    /** @param maxWait of a queued check */
    PermissionCheckQuota(Duration maxWait) {
        this.maxWait = maxWait;
    }

    /**
     * Reserves capacity for one check.
     *
     * @param isUnknown whether {@code principal} has no recent grant
     * @return completes on any thread; fails with etcd's error at the deadline or if the queue is full
     */
    CompletableFuture<Slot> take(Principal principal, boolean isUnknown) {
        Pool pool = isUnknown ? unknown : known;
        Wait wait = new Wait(pool, principal, new CompletableFuture<>());
        synchronized (this) {
            Share share = pool.shares.getOrDefault(principal, new Share());
            boolean hasShare = share.taken < pool.maxPerPrincipal;
            boolean begins = hasShare && pool.taken < pool.max;
            if (!begins && waits >= MAX_WAITING) {
                return CompletableFuture.failedFuture(ApiException.tooManyRequests());
            }
            pool.shares.put(principal, share);
            waits++;
            if (hasShare) {
                share.taken++;
                pool.waiting.add(wait);
            } else {
                share.waiting.add(wait);
            }
        }
        serve(pool);
        if (!wait.granted.isDone()) {
            CompletableFuture.delayedExecutor(maxWait.toNanos(), TimeUnit.NANOSECONDS, Runnable::run)
                    .execute(() -> giveUp(wait));
        }
        return wait.granted;
    }

    private void giveUp(Wait wait) {
        synchronized (this) {
            Share share = wait.pool.shares.get(wait.principal);
            if (wait.pool.waiting.remove(wait)) {
                left(wait.pool, wait.principal);
            } else if (share == null || !share.waiting.remove(wait)) {
                return;
            }
            waits--;
        }
        wait.granted.completeExceptionally(ApiException.tooManyRequests());
        serve(wait.pool);
    }

    /** One check of the principal less is under way or queued within its share. Under this object's lock. */
    private void left(Pool pool, Principal principal) {
        Share share = Objects.requireNonNull(pool.shares.get(principal));
        Wait next = share.waiting.poll();
        if (next != null) {
            pool.waiting.add(next);
        } else if (--share.taken == 0) {
            pool.shares.remove(principal);
        }
    }

    /** Begins queued checks within the limit. */
    private void serve(Pool pool) {
        for (Wait next = begun(pool); next != null; next = begun(pool)) {
            Slot slot = new Slot(pool, next.principal);
            if (pool == unknown) {
                CompletableFuture.delayedExecutor(PROMPT_MILLIS, TimeUnit.MILLISECONDS, Runnable::run)
                        .execute(slot::late);
            }
            next.granted.complete(slot);
        }
    }

    private synchronized @Nullable Wait begun(Pool pool) {
        Iterator<Wait> queue = pool.waiting.iterator();
        if (pool.taken >= pool.max || !queue.hasNext()) {
            return null;
        }
        Wait next = queue.next();
        queue.remove();
        waits--;
        pool.taken++;
        return next;
    }

    /** The capacity for one check. */
    final class Slot {
        private final Pool pool;
        private final Principal principal;
        private boolean isSlow;
        private boolean released;

        private Slot(Pool pool, Principal principal) {
            this.pool = pool;
            this.principal = principal;
        }

        /** To be called once. */
        void release() {
            synchronized (PermissionCheckQuota.this) {
                released = true;
                if (isSlow) {
                    slow--;
                } else {
                    pool.taken--;
                }
                left(pool, principal);
            }
            serve(pool);
        }

        private void late() {
            synchronized (PermissionCheckQuota.this) {
                if (released || slow >= MAX_SLOW) {
                    return;
                }
                isSlow = true;
                slow++;
                pool.taken--;
            }
            serve(pool);
        }
    }
}
