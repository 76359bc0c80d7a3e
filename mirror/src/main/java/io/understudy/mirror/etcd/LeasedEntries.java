package io.understudy.mirror.etcd;

import com.google.protobuf.ByteString;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Entries with leases, written after all others: lock queues follow the order of key creation. Thread-safe.
 *
 * <p>Invariant M16: a snapshot writes keys with leases last, in the order of their creation.
 */
final class LeasedEntries {

    /** Maximum total size of keys and values, which are held in memory. */
    static final long MAX_BYTES = 64L << 20;

    private final List<KeyValue> entries = new ArrayList<>();
    /** Entries without values. */
    private final List<KeyValue> seen = new ArrayList<>();

    private long bytes;

    /** @throws SinkException.Refused the entries exceed the limit */
    synchronized void add(KeyValue entry) {
        bytes += entry.bytes();
        if (bytes > MAX_BYTES) {
            throw new SinkException.Refused("keys with leases exceed " + (MAX_BYTES >> 20)
                    + " MiB, the limit of a sync. Set leases to drop, or exclude these keys");
        }
        entries.add(entry);
    }

    /** Adds an entry of the snapshot that the target may hold. */
    synchronized void saw(KeyValue entry) {
        seen.add(new KeyValue(
                entry.key(),
                ByteString.EMPTY,
                entry.createRevision(),
                entry.modRevision(),
                entry.version(),
                entry.lease()));
    }

    /** Returns all entries of the snapshot, without values. */
    synchronized List<KeyValue> seen() {
        return List.copyOf(seen);
    }

    /** Returns all entries in the order in which the source created their keys. */
    synchronized List<KeyValue> inOrder() {
        return entries.stream()
                .sorted(Comparator.comparing(KeyValue::createRevision).thenComparing(KeyValue::key, KeyRange.KEY_ORDER))
                .toList();
    }
}
