package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The keys that differed when they were last looked at; a bounded number of them. Thread-safe. */
final class KnownDifferences {

    private static final int MAX_KNOWN = 10_000;

    private final SortedMap<ByteString, Difference> byKey = new TreeMap<>(KeyRange.KEY_ORDER);

    /**
     * Part of the keys was looked at.
     *
     * @param from first key of the part
     * @param to first key after it; null for no end
     * @return those that were not known
     */
    synchronized List<Difference> found(ByteString from, @Nullable ByteString to, List<Difference> differing) {
        SortedMap<ByteString, Difference> part = to == null ? byKey.tailMap(from) : byKey.subMap(from, to);
        List<Difference> before = List.copyOf(part.values());
        part.clear();
        List<Difference> fresh = new ArrayList<>();
        for (Difference difference : differing) {
            if (!before.contains(difference)) {
                fresh.add(difference);
            }
            if (byKey.size() < MAX_KNOWN) {
                byKey.put(difference.targetKey(), difference);
            }
        }
        return fresh;
    }

    synchronized int count() {
        return byKey.size();
    }

    synchronized List<Difference> first(int count) {
        return byKey.values().stream().limit(count).toList();
    }
}
