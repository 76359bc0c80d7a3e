package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.Collection;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The keys that differed in their last comparison; a bounded number of them. Thread-safe. */
final class KnownDifferences {

    private static final int MAX_KNOWN = 10_000;

    private final NavigableMap<ByteString, Difference> byKey = new TreeMap<>(KeyRange.KEY_ORDER);

    /**
     * Records the result of a comparison.
     *
     * @return new differences
     */
    synchronized List<Difference> found(Collection<ByteString> compared, List<Difference> differing) {
        List<Difference> fresh = differing.stream()
                .filter(difference -> !difference.equals(byKey.get(difference.targetKey())))
                .toList();
        compared.forEach(byKey::remove);
        for (Difference difference : differing) {
            if (byKey.size() < MAX_KNOWN) {
                byKey.put(difference.targetKey(), difference);
            }
        }
        return fresh;
    }

    /** Known keys from one on, and before another; null for no end. */
    synchronized List<ByteString> between(ByteString from, @Nullable ByteString to) {
        return List.copyOf((to == null ? byKey.tailMap(from, true) : byKey.subMap(from, true, to, false)).keySet());
    }

    synchronized int count() {
        return byKey.size();
    }

    synchronized List<Difference> first(int count) {
        return byKey.values().stream().limit(count).toList();
    }
}
