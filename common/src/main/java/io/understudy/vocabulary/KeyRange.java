package io.understudy.vocabulary;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A half-open range of keys, ordered as unsigned bytes.
 *
 * @param from first key inside; empty is the beginning of the key space
 * @param to first key after the range; null when the range has no upper end
 */
public record KeyRange(ByteString from, @Nullable ByteString to) {

    /** Keys in etcd's order. */
    public static final Comparator<ByteString> KEY_ORDER = KeyRange::compare;

    private static final int MAX_SHOWN_BYTES = 200;
    private static final ByteString ZERO_BYTE = ByteString.copyFrom(new byte[] {0});

    public KeyRange {
        if (to != null && KEY_ORDER.compare(from, to) >= 0) {
            throw new IllegalArgumentException("empty key range: from " + from + " to " + to);
        }
    }

    /** A key in messages: escaped, and cut after 200 bytes. */
    public static String shown(ByteString key) {
        String escaped = TextFormat.escapeBytes(key.substring(0, Math.min(key.size(), MAX_SHOWN_BYTES)));
        return key.size() > MAX_SHOWN_BYTES ? escaped + "..." : escaped;
    }

    /** The whole key space. */
    public static KeyRange all() {
        return new KeyRange(ByteString.EMPTY, null);
    }

    /** Exactly one key. */
    public static KeyRange single(ByteString key) {
        return new KeyRange(key, successor(key));
    }

    /** The key right after {@code key}. */
    public static ByteString successor(ByteString key) {
        return key.concat(ZERO_BYTE);
    }

    /** {@code key} and everything after it. */
    public static KeyRange fromKey(ByteString key) {
        return new KeyRange(key, null);
    }

    /** Every key that starts with {@code prefix}; the whole key space for an empty one. */
    public static KeyRange prefix(ByteString prefix) {
        for (int last = prefix.size() - 1; last >= 0; last--) {
            if (prefix.byteAt(last) != (byte) 0xff) {
                byte[] end = prefix.substring(0, last + 1).toByteArray();
                end[last]++;
                return new KeyRange(prefix, ByteString.copyFrom(end));
            }
        }
        return new KeyRange(prefix, null);
    }

    /**
     * The range of a request's {@code key} and {@code range_end}. An empty end is the one key, an end of one zero byte
     * is everything from the key on.
     *
     * @throws IllegalArgumentException if the end is not after the key, where etcd would answer with nothing
     */
    public static KeyRange ofEtcd(ByteString key, ByteString rangeEnd) {
        if (rangeEnd.isEmpty()) {
            return single(key);
        }
        ByteString from = key.equals(ZERO_BYTE) ? ByteString.EMPTY : key;
        return rangeEnd.equals(ZERO_BYTE) ? fromKey(from) : new KeyRange(from, rangeEnd);
    }

    /** The {@code key} of a request for this range: etcd rejects an empty one. */
    public ByteString etcdKey() {
        return from.isEmpty() ? ZERO_BYTE : from;
    }

    /** The {@code range_end} of a request for this range. */
    public ByteString etcdRangeEnd() {
        return to == null ? ZERO_BYTE : to;
    }

    public boolean contains(ByteString key) {
        return KEY_ORDER.compare(key, from) >= 0 && (to == null || KEY_ORDER.compare(key, to) < 0);
    }

    /** Whether every key of {@code other} is in this range. */
    public boolean covers(KeyRange other) {
        if (KEY_ORDER.compare(other.from, from) < 0) {
            return false;
        }
        return to == null || (other.to != null && KEY_ORDER.compare(other.to, to) <= 0);
    }

    /** Whether some key is in both ranges. */
    public boolean intersects(KeyRange other) {
        return (to == null || KEY_ORDER.compare(other.from, to) < 0)
                && (other.to == null || KEY_ORDER.compare(from, other.to) < 0);
    }

    /**
     * The keys that are in both ranges.
     *
     * @throws IllegalArgumentException there is none, see {@link #intersects}
     */
    public KeyRange intersection(KeyRange other) {
        ByteString end = to == null || (other.to != null && KEY_ORDER.compare(other.to, to) < 0) ? other.to : to;
        return new KeyRange(KEY_ORDER.compare(from, other.from) < 0 ? other.from : from, end);
    }

    /** The parts of this range outside of {@code other}: at most two, in key order. */
    public List<KeyRange> without(KeyRange other) {
        if (!intersects(other)) {
            return List.of(this);
        }
        List<KeyRange> parts = new ArrayList<>(2);
        if (KEY_ORDER.compare(from, other.from) < 0) {
            parts.add(new KeyRange(from, other.from));
        }
        if (other.to != null && (to == null || KEY_ORDER.compare(other.to, to) < 0)) {
            parts.add(new KeyRange(other.to, to));
        }
        return parts;
    }

    public boolean isAll() {
        return from.isEmpty() && to == null;
    }

    /** Compares as {@link ByteString#unsignedLexicographicalComparator}, without its two iterators. */
    private static int compare(ByteString left, ByteString right) {
        int common = Math.min(left.size(), right.size());
        for (int i = 0; i < common; i++) {
            int order = Byte.compareUnsigned(left.byteAt(i), right.byteAt(i));
            if (order != 0) {
                return order;
            }
        }
        return Integer.compare(left.size(), right.size());
    }
}
