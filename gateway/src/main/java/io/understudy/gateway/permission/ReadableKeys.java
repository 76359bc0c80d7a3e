package io.understudy.gateway.permission;

import com.google.protobuf.ByteString;
import io.understudy.gateway.api.Permission;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The readable keys of a user: the union of all roles' permissions ({@code auth/range_perm_cache.go}).
 *
 * @param ranges in order, with keys between them
 */
record ReadableKeys(boolean everything, List<KeyRange> ranges) {

    static final ReadableKeys EVERYTHING = new ReadableKeys(true, List.of());

    private static final ByteString FROM_KEY = ByteString.copyFrom(new byte[] {0});

    /** Returns the keys that these permissions cover together. */
    static ReadableKeys of(Collection<io.etcd.jetcd.api.Permission> permissions) {
        List<KeyRange> sorted = permissions.stream()
                .filter(each -> each.getPermType() != io.etcd.jetcd.api.Permission.Type.WRITE)
                .filter(each -> !each.getKey().isEmpty())
                .map(each -> range(each.getKey(), each.getRangeEnd()))
                .sorted(Comparator.comparing(KeyRange::from, KeyRange.KEY_ORDER))
                .collect(Collectors.toCollection(ArrayList::new));
        List<KeyRange> joined = new ArrayList<>();
        for (KeyRange next : sorted) {
            KeyRange last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
            if (last == null || (last.to() != null && isBefore(last.to(), next.from()))) {
                joined.add(next);
            } else if (!last.covers(next)) {
                joined.set(joined.size() - 1, new KeyRange(last.from(), next.to()));
            }
        }
        return new ReadableKeys(false, List.copyOf(joined));
    }

    boolean covers(Permission.Read read) {
        if (everything) {
            return true;
        }
        KeyRange wanted = range(read.key(), read.end());
        int low = 0;
        int high = ranges.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (isBefore(wanted.from(), ranges.get(middle).from())) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low > 0 && ranges.get(low - 1).covers(wanted);
    }

    /** The range as in etcd: one that ends before it begins is its first key. */
    private static KeyRange range(ByteString key, ByteString end) {
        if (end.equals(FROM_KEY)) {
            return KeyRange.fromKey(key);
        }
        return isBefore(key, end) ? new KeyRange(key, end) : KeyRange.single(key);
    }

    private static boolean isBefore(ByteString one, ByteString other) {
        return KeyRange.KEY_ORDER.compare(one, other) < 0;
    }
}
