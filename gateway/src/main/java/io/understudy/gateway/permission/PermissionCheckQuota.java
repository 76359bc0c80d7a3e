package io.understudy.gateway.permission;

import io.understudy.gateway.caller.Principal;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Limits concurrent permission checks; each takes up to a second per unresponsive member. A principal has a share only,
 * and principals without recent grants have a small share together: any client can send an invalid token. Thread-safe.
 */
final class PermissionCheckQuota {

    static final int MAX = 10_000;
    static final int MAX_OF_UNKNOWN = 2_000;
    static final int MAX_PER_PRINCIPAL = 1_000;
    static final int MAX_PER_UNKNOWN = 100;

    private final AtomicInteger all = new AtomicInteger();
    private final AtomicInteger unknown = new AtomicInteger();
    private final Map<Principal, Integer> each = new ConcurrentHashMap<>();

    /**
     * Reserves capacity for one check.
     *
     * @param isUnknown whether {@code principal} has no recent grant
     * @return releases the capacity, to be run once; null if there is none
     */
    @Nullable Runnable take(Principal principal, boolean isUnknown) {
        int limit = isUnknown ? MAX_PER_UNKNOWN : MAX_PER_PRINCIPAL;
        if (all.incrementAndGet() > MAX) {
            all.decrementAndGet();
            return null;
        }
        if (isUnknown && unknown.incrementAndGet() > MAX_OF_UNKNOWN) {
            unknown.decrementAndGet();
            all.decrementAndGet();
            return null;
        }
        Runnable giveBack = () -> {
            each.computeIfPresent(principal, (one, taken) -> taken == 1 ? null : taken - 1);
            if (isUnknown) {
                unknown.decrementAndGet();
            }
            all.decrementAndGet();
        };
        if (each.merge(principal, 1, Integer::sum) > limit) {
            giveBack.run();
            return null;
        }
        return giveBack;
    }
}
