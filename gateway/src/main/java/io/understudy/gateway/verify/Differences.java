package io.understudy.gateway.verify;

import static java.util.stream.Collectors.joining;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.understudy.feed.etcd.SnapshotReader;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.EntryCursor;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.Counted;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Differences between a state and a page of the source at the same revision.
 *
 * @param keys that are missing on one side or have different entries
 */
record Differences(List<ByteString> keys) {

    private static final int MOST_SHOWN = 10;

    static Differences between(ReplicaState state, SnapshotReader.Page page) {
        List<ByteString> keys = new ArrayList<>();
        EntryCursor held = state.cursor(page.covered());
        Entry ours = next(held);
        for (KeyValue theirs : page.entries()) {
            while (ours != null && KeyRange.KEY_ORDER.compare(ours.key(), theirs.key()) < 0) {
                keys.add(ours.key());
                ours = next(held);
            }
            boolean onBothSides = ours != null && ours.key().equals(theirs.key());
            if (ours == null || !Entry.of(theirs).equals(ours)) {
                keys.add(theirs.key());
            }
            if (onBothSides) {
                ours = next(held);
            }
        }
        while (ours != null) {
            keys.add(ours.key());
            ours = next(held);
        }
        return new Differences(keys);
    }

    /** Returns the number of keys, for health reports: key names are restricted to permitted users. */
    String count() {
        return Counted.of(keys.size(), "key") + ", see the log";
    }

    /** Returns the first keys as text for the log, with unprintable bytes escaped. */
    String text() {
        return keys.stream()
                        .limit(MOST_SHOWN)
                        .map(key -> "'" + TextFormat.escapeBytes(key) + "'")
                        .collect(joining(", "))
                + (keys.size() > MOST_SHOWN ? " and " + (keys.size() - MOST_SHOWN) + " more" : "");
    }

    private static @Nullable Entry next(EntryCursor cursor) {
        return cursor.hasNext() ? cursor.next() : null;
    }
}
