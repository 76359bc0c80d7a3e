package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import org.jspecify.annotations.Nullable;

/** A state in pages of bounded size, which are released once delivered. Owned by the feed's thread. */
final class SnapshotPages {

    private static final int KEYS = 1_000;
    private static final long BYTES = 1L << 20;

    /** All there is in {@code covered}. */
    record Page(KeyRange covered, List<KeyValue> entries) {}

    private final KeyRange range;
    private final NavigableMap<ByteString, KeyValue> entries;
    private @Nullable ByteString cursor;
    private boolean first = true;

    SnapshotPages(KeyRange range, NavigableMap<ByteString, KeyValue> entries) {
        this.range = range;
        this.entries = entries;
        this.cursor = range.from();
    }

    /** Whether no page was delivered. */
    boolean isFirst() {
        return first;
    }

    /** The next page, in key order, adjoining the one before; null after the last. */
    @Nullable Page next() {
        ByteString from = cursor;
        if (from == null) {
            return null;
        }
        first = false;
        List<KeyValue> page = new ArrayList<>();
        long bytes = 0;
        ByteString last = from;
        while (!entries.isEmpty() && page.size() < KEYS && bytes < BYTES) {
            Map.Entry<ByteString, KeyValue> entry = entries.pollFirstEntry();
            page.add(entry.getValue());
            bytes += entry.getValue().bytes();
            last = entry.getKey();
        }
        cursor = entries.isEmpty() ? null : KeyRange.successor(last);
        return new Page(new KeyRange(from, cursor == null ? range.to() : cursor), page);
    }
}
