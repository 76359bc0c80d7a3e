package io.understudy.gateway.permission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What was granted lately, each until so long after it was asked for. Refusals are not kept: who has just been permitted
 * something is served at once. Bounded by memory. For any thread, without locks.
 */
final class Grants {

    private static final long MOST_BYTES = 64L << 20;
    private static final long MOST_WIDE_BYTES = 32L << 20;

    /** Not by when it was last read: to note that takes longer than to read it. */
    private static final Duration WIDE_FOR = Duration.ofMinutes(1);

    private final long maxAgeNanos;
    private final Cache<Asked, Long> exact;
    private final Cache<Principal, WideGrants> wide;

    Grants(Duration maxAge) {
        this.maxAgeNanos = maxAge.toNanos();
        this.exact = Caffeine.newBuilder()
                .maximumWeight(MOST_BYTES)
                .weigher((Asked asked, Long sentNanos) -> asked.bytes())
                .expireAfterWrite(maxAge)
                .build();
        // Kept for longer than what is granted: it also knows what was refused, and need not be asked again for a
        // while.
        this.wide = Caffeine.newBuilder()
                .maximumWeight(MOST_WIDE_BYTES)
                .weigher((Principal principal, WideGrants more) -> Asked.bytes(principal) + more.bytes())
                .expireAfterWrite(WIDE_FOR)
                .build();
    }

    /**
     * What covers it, or null: itself, or more than that. That may have been {@linkplain #ageing granted some time ago}.
     */
    @Nullable Grant covering(Asked asked, long nowNanos) {
        if (asked.wanted() instanceof Permission.Read read) {
            WideGrants more = wide.getIfPresent(asked.principal());
            Grant covering = more == null ? null : more.covering(read, nowNanos - maxAgeNanos);
            if (covering != null) {
                return covering;
            }
        }
        Long sentNanos = exact.getIfPresent(asked);
        return sentNanos == null || nowNanos - sentNanos >= maxAgeNanos ? null : new Grant(asked.wanted(), sentNanos);
    }

    /** Whether it is time to ask once more, so that it never ends for who goes on to use it. */
    boolean ageing(Grant grant, long nowNanos) {
        return nowNanos - grant.sentNanos() >= maxAgeNanos / 2;
    }

    void granted(Asked asked, long sentNanos) {
        exact.put(asked, sentNanos);
    }

    void refused(Asked asked) {
        exact.invalidate(asked);
        WideGrants more = wide.getIfPresent(asked.principal());
        if (more != null && asked.wanted() instanceof Permission.Read read) {
            more.revoked(read);
        }
    }

    /**
     * What to ask for beside, having permitted {@code read}: see {@link WideGrants#guess}. After another {@link
     * #guessedRight}, {@link #guessedWrong} or {@link #notGuessed} is to be told.
     */
    Permission.@Nullable Read guess(Principal principal, Permission.Read read, long nowNanos) {
        return wide(principal).guess(read, nowNanos);
    }

    void guessedRight(Principal principal, Permission.Read guess, long sentNanos) {
        WideGrants more = wide(principal);
        more.granted(guess, sentNanos);
        weigh(principal, more);
    }

    void guessedWrong(Principal principal, Permission.Read guess, long nowNanos) {
        WideGrants more = wide(principal);
        more.refused(guess, nowNanos);
        weigh(principal, more);
    }

    void notGuessed(Principal principal) {
        wide(principal).unknown();
    }

    /** What was granted before was granted once more. */
    void renewed(Principal principal, Permission.Read read, long sentNanos) {
        wide(principal).renewed(read, sentNanos);
    }

    private WideGrants wide(Principal principal) {
        return wide.get(principal, unknown -> new WideGrants());
    }

    /** Caffeine weighs what is put. */
    private void weigh(Principal principal, WideGrants more) {
        wide.put(principal, more);
    }

    /** Whether something was permitted to it in the last minute. */
    boolean knows(Principal principal) {
        return wide.getIfPresent(principal) != null;
    }

    /** About so many. */
    long size() {
        return exact.estimatedSize();
    }

    /** What it takes in memory to know what may be read beyond what was asked for, about; bounded, but for a moment. */
    long wideBytes() {
        wide.cleanUp();
        return wide.policy().eviction().orElseThrow().weightedSize().orElseThrow();
    }

    /**
     * A permission that somebody has.
     *
     * @param sentNanos by {@link System#nanoTime}, when it was asked for
     */
    record Grant(Permission permission, long sentNanos) {}
}
