package io.understudy.gateway.permission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Caches granted permissions until a maximum age, counted from the request. Denials are not cached, so that a new grant
 * takes effect at once. Bounded by memory. Thread-safe, lock-free.
 */
final class Grants {

    private static final long MOST_BYTES = 64L << 20;
    private static final long MOST_WIDE_BYTES = 32L << 20;

    /** Since the last grant or renewal: recording reads would cost more than the read itself. */
    private static final Duration WIDE_FOR = Duration.ofMinutes(1);

    private final long maxAgeNanos;
    private final Cache<PermissionRequest, Long> exact;
    private final Cache<Principal, WideGrants> wide;

    /** @param clock in nanoseconds */
    Grants(Duration maxAge, LongSupplier clock) {
        this.maxAgeNanos = maxAge.toNanos();
        this.exact = Caffeine.newBuilder()
                .maximumWeight(MOST_BYTES)
                .weigher((PermissionRequest request, Long sentNanos) -> request.bytes())
                .expireAfterWrite(maxAge)
                .ticker(clock::getAsLong)
                .build();
        // Outlives the grants: it also has the recent denials of guesses.
        this.wide = Caffeine.newBuilder()
                .maximumWeight(MOST_WIDE_BYTES)
                .weigher((Principal principal, WideGrants more) -> PermissionRequest.bytes(principal) + more.bytes())
                .expireAfterWrite(WIDE_FOR)
                .ticker(clock::getAsLong)
                .build();
    }

    /**
     * Returns the permission itself or a wider one; null if neither is cached. It may be {@linkplain #ageing due for
     * renewal}.
     */
    @Nullable Grant covering(PermissionRequest request, long nowNanos) {
        if (request.wanted() instanceof Permission.Read read) {
            WideGrants more = wide.getIfPresent(request.principal());
            Grant covering = more == null ? null : more.covering(read, nowNanos - maxAgeNanos);
            if (covering != null) {
                return covering;
            }
        }
        Long sentNanos = exact.getIfPresent(request);
        return sentNanos == null || nowNanos - sentNanos >= maxAgeNanos ? null : new Grant(request.wanted(), sentNanos);
    }

    /** Whether to renew a grant, so that a grant in use never expires. */
    boolean ageing(Grant grant, long nowNanos) {
        return nowNanos - grant.sentNanos() >= maxAgeNanos / 2;
    }

    void granted(PermissionRequest request, long sentNanos) {
        exact.put(request, sentNanos);
        keep(request.principal(), wide(request.principal()));
    }

    void refused(PermissionRequest request) {
        exact.invalidate(request);
        WideGrants more = wide.getIfPresent(request.principal());
        if (more != null && request.wanted() instanceof Permission.Read read) {
            more.revoked(read);
        }
    }

    /**
     * Returns a wider permission to check after {@code read} was granted, see {@link WideGrants#guess}. The result must
     * be reported by {@link #guessedRight}, {@link #guessedWrong} or {@link #notGuessed} before the next guess.
     */
    Permission.@Nullable Read guess(Principal principal, Permission.Read read, long nowNanos) {
        return wide(principal).guess(read, nowNanos);
    }

    void guessedRight(Principal principal, Permission.Read guess, long sentNanos) {
        WideGrants more = wide(principal);
        more.granted(guess, sentNanos);
        keep(principal, more);
    }

    void guessedWrong(Principal principal, Permission.Read guess, long nowNanos) {
        WideGrants more = wide(principal);
        more.refused(guess, nowNanos);
        keep(principal, more);
    }

    void notGuessed(Principal principal) {
        wide(principal).unknown();
    }

    /** Extends the lifetime of a wider grant. */
    void renewed(Principal principal, Permission.Read read, long sentNanos) {
        WideGrants more = wide(principal);
        more.renewed(read, sentNanos);
        keep(principal, more);
    }

    private WideGrants wide(Principal principal) {
        return wide.get(principal, unknown -> new WideGrants());
    }

    /** Caffeine weighs entries, and extends their lifetime, on put only. */
    private void keep(Principal principal, WideGrants more) {
        wide.put(principal, more);
    }

    /** Whether the principal was granted a permission in the last minute. */
    boolean hasRecentGrants(Principal principal) {
        return wide.getIfPresent(principal) != null;
    }

    /** Estimated number of cached grants. */
    long size() {
        return exact.estimatedSize();
    }

    /** Estimated heap size of wider grants; exceeds its limit only briefly. */
    long wideBytes() {
        wide.cleanUp();
        return wide.policy().eviction().orElseThrow().weightedSize().orElseThrow();
    }

    /**
     * A granted permission.
     *
     * @param sentNanos when it was requested, by {@link System#nanoTime}
     */
    record Grant(Permission permission, long sentNanos) {}
}
