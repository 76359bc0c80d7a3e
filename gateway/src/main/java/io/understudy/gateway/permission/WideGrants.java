package io.understudy.gateway.permission;

import com.google.protobuf.ByteString;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.permission.Grants.Grant;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Ranges that a principal may read beyond the keys it has requested. They spare one check per key, since a permission
 * on a range covers its keys. Candidates are the whole key space and prefixes of the keys up to a slash. Thread-safe.
 */
final class WideGrants {

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
                    each.grant().permission().equals(read) ? new Wide(each.range(), new Grant(read, sentNanos)) : each);
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
        granted = granted.stream().filter(each -> !covers(each.range(), read)).toList();
    }
}
