package io.understudy.gateway.permission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.protobuf.ByteString;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.permission.Authorizer.PermissionRequest;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

    /**
     * Ranges that a principal may read beyond the keys it has requested. They spare one check per key, since a permission
     * on a range covers its keys. Candidates are the whole key space and prefixes of the keys up to a slash. Thread-safe.
     */
    private static final class WideGrants {

        /** How long a denied guess is not repeated. */
        static final Duration REFUSED_FOR = Duration.ofSeconds(10);

        private static final int MOST_GRANTED = 8;
        private static final int MOST_REFUSED = 64;

        /** Longest key to derive a guess from. */
        private static final int LONGEST_KEY = 1 << 10;

        /** Object headers, references and map entries, per range. */
        private static final int OVERHEAD = 300;

        private static final byte SEPARATOR = '/';
        private static final ByteString FROM_KEY = ByteString.copyFrom(new byte[] {0});
        private static final Permission.Read ALL =
                new Permission.Read(KeyRange.all().etcdKey(), KeyRange.all().etcdRangeEnd());

        private record Wide(KeyRange range, Grant grant) {}

        private volatile List<Wide> granted = List.of();

        // Under this object's lock.
        private final Map<Permission.Read, Long> refused = new LinkedHashMap<>();
        private boolean guessing;

        /** Returns a grant that covers {@code read} and is newer than {@code oldestNanos}; null for none. */
        @Nullable Grant covering(Permission.Read read, long oldestNanos) {
            List<Wide> known = granted;
            for (int i = 0; i < known.size(); i++) {
                Wide each = known.get(i);
                if (each.grant().sentNanos() - oldestNanos > 0 && covers(each.range(), read)) {
                    return each.grant();
                }
            }
            return null;
        }

        private static boolean covers(KeyRange range, Permission.Read read) {
            ByteString end = read.end();
            if (range.isAll()) {
                return end.isEmpty() || end.equals(FROM_KEY) || isBefore(read.key(), end);
            }
            if (isBefore(read.key(), range.from())) {
                return false;
            }
            ByteString to = range.to();
            if (to == null) {
                return end.isEmpty() || end.equals(FROM_KEY) || isBefore(read.key(), end);
            }
            if (end.isEmpty()) {
                return isBefore(read.key(), to);
            }
            return !end.equals(FROM_KEY) && isBefore(read.key(), end) && !isBefore(to, end);
        }

        private static boolean isBefore(ByteString one, ByteString other) {
            return KeyRange.KEY_ORDER.compare(one, other) < 0;
        }

        /**
         * Returns the next wider range to check after {@code read} was granted. Null if there is none or a guess is open.
         * Every guess must be closed by {@link #granted}, {@link #refused} or {@link #unknown}.
         */
        synchronized Permission.@Nullable Read guess(Permission.Read read, long nowNanos) {
            if (guessing || read.key().size() > LONGEST_KEY) {
                return null;
            }
            Permission.Read guess = isOpen(ALL, nowNanos) && !read.equals(ALL) ? ALL : parent(read, nowNanos);
            guessing = guess != null;
            return guess;
        }

        /** Returns the next enclosing prefix. Null if it was denied, since wider ones are denied too. */
        private Permission.@Nullable Read parent(Permission.Read read, long nowNanos) {
            for (int slash = read.key().size() - 1; slash >= 0; slash--) {
                if (read.key().byteAt(slash) == SEPARATOR) {
                    KeyRange range = KeyRange.prefix(copy(read.key(), slash + 1));
                    Permission.Read parent = new Permission.Read(range.etcdKey(), range.etcdRangeEnd());
                    if (!parent.equals(read)) {
                        return isOpen(parent, nowNanos) ? parent : null;
                    }
                }
            }
            return null;
        }

        /** Copies, so that the whole key is not retained. */
        private static ByteString copy(ByteString key, int bytes) {
            return ByteString.copyFrom(key.substring(0, bytes).toByteArray());
        }

        private boolean isOpen(Permission.Read guess, long nowNanos) {
            Long until = refused.get(guess);
            return until == null || nowNanos - until >= 0;
        }

        /** Records a guess as granted. */
        synchronized void granted(Permission.Read guess, long sentNanos) {
            guessing = false;
            KeyRange range = KeyRange.ofEtcd(guess.key(), guess.end());
            List<Wide> next = new ArrayList<>();
            next.add(new Wide(range, new Grant(guess, sentNanos)));
            for (Wide each : granted) {
                if (next.size() < MOST_GRANTED && !range.covers(each.range())) {
                    next.add(each);
                }
            }
            granted = List.copyOf(next);
        }

        /** Renews a grant, if it is one of these. */
        synchronized void renewed(Permission.Read read, long sentNanos) {
            List<Wide> next = new ArrayList<>(granted.size());
            for (Wide each : granted) {
                next.add(
                        each.grant().permission().equals(read)
                                ? new Wide(each.range(), new Grant(read, sentNanos))
                                : each);
            }
            granted = List.copyOf(next);
        }

        /** Records a guess as denied. */
        synchronized void refused(Permission.Read guess, long nowNanos) {
            guessing = false;
            refused.values().removeIf(until -> nowNanos - until >= 0);
            refused.remove(guess);
            refused.put(guess, nowNanos + REFUSED_FOR.toNanos());
            if (refused.size() > MOST_REFUSED) {
                refused.remove(refused.keySet().iterator().next());
            }
            revoked(guess);
        }

        /** Estimated heap size. */
        synchronized int bytes() {
            int bytes = OVERHEAD * (1 + granted.size() + refused.size());
            for (Wide each : granted) {
                bytes += bytes(each.grant().permission());
            }
            for (Permission.Read each : refused.keySet()) {
                bytes += bytes(each);
            }
            return bytes;
        }

        private static int bytes(Permission permission) {
            // A range is kept twice: as it is sent, and to be compared with.
            return permission instanceof Permission.Read read
                    ? 2 * (read.key().size() + read.end().size())
                    : 0;
        }

        /** Records a guess as undecided. */
        synchronized void unknown() {
            guessing = false;
        }

        /** Removes grants that cover a range that is denied. */
        synchronized void revoked(Permission.Read read) {
            granted =
                    granted.stream().filter(each -> !covers(each.range(), read)).toList();
        }
    }
}
