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
 * Of one principal, ranges that it may read beyond what it has asked for, so that who reads key by key is not asked about for
 * each: who may read a range may read whatever is in it. Guessed from the keys it reads: the whole key space, and what has the
 * same beginning up to a slash. For any thread.
 */
final class WideGrants {

    /** How long a guess that was wrong is not made again. */
    static final Duration REFUSED_FOR = Duration.ofSeconds(10);

    private static final int MOST_GRANTED = 8;
    private static final int MOST_REFUSED = 64;

    /** Of keys that are guessed from: what is longer is asked for by itself. */
    private static final int LONGEST_KEY = 1 << 10;

    /** Of object headers, references, and a map's own book-keeping; for each that is known. */
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

    /** The grant that it lies within, of those that are not older than {@code oldestNanos}; null if there is none. */
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
     * What to ask for, having been granted {@code read}: the next guess. Null if there is none to be made, or one is being
     * made; after another, {@link #granted}, {@link #refused} or {@link #unknown} is to be told.
     */
    synchronized Permission.@Nullable Read guess(Permission.Read read, long nowNanos) {
        if (guessing || read.key().size() > LONGEST_KEY) {
            return null;
        }
        Permission.Read guess = isOpen(ALL, nowNanos) && !read.equals(ALL) ? ALL : parent(read, nowNanos);
        guessing = guess != null;
        return guess;
    }

    /** The next one outwards. What reaches beyond what was refused need not be tried. */
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

    /** Which doesn't keep all of the key. */
    private static ByteString copy(ByteString key, int bytes) {
        return ByteString.copyFrom(key.substring(0, bytes).toByteArray());
    }

    private boolean isOpen(Permission.Read guess, long nowNanos) {
        Long until = refused.get(guess);
        return until == null || nowNanos - until >= 0;
    }

    /** The guess was right. */
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

    /** What was granted before, if it is of these, was granted once more. */
    synchronized void renewed(Permission.Read read, long sentNanos) {
        List<Wide> next = new ArrayList<>(granted.size());
        for (Wide each : granted) {
            next.add(
                    each.grant().permission().equals(read) ? new Wide(each.range(), new Grant(read, sentNanos)) : each);
        }
        granted = List.copyOf(next);
    }

    /** The guess was wrong. */
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

    /** What it takes in memory, about. */
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

    /** Nobody could tell. */
    synchronized void unknown() {
        guessing = false;
    }

    /** It is not, or no longer, permitted to read it, nor then what it lies in. */
    synchronized void revoked(Permission.Read read) {
        granted = granted.stream().filter(each -> !covers(each.range(), read)).toList();
    }
}
