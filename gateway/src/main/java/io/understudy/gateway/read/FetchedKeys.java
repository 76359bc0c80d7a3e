package io.understudy.gateway.read;

import com.google.protobuf.ByteString;
import io.understudy.gateway.api.Entries;
import io.understudy.gateway.api.KeySpace;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Ranges fetched from the source at one revision. Filled before it is read. */
final class FetchedKeys implements KeySpace {

    private final NavigableMap<ByteString, Entry> entries = new TreeMap<>(KeyRange.KEY_ORDER);
    private final Revision revision;

    FetchedKeys(Revision revision) {
        this.revision = revision;
    }

    void add(List<Entry> fetched) {
        fetched.forEach(entry -> entries.put(entry.key(), entry));
    }

    @Override
    public Revision revision() {
        return revision;
    }

    @Override
    public @Nullable Entry get(ByteString key) {
        return entries.get(key);
    }

    @Override
    public long count(KeyRange keys) {
        return inside(keys).size();
    }

    @Override
    public Entries entries(KeyRange keys, long limit) {
        return Entries.of(inside(keys).values().stream().limit(limit).toList());
    }

    @Override
    public Entries descending(KeyRange keys, long limit) {
        return Entries.of(
                inside(keys).descendingMap().values().stream().limit(limit).toList());
    }

    private NavigableMap<ByteString, Entry> inside(KeyRange keys) {
        ByteString to = keys.to();
        return to == null ? entries.tailMap(keys.from(), true) : entries.subMap(keys.from(), true, to, false);
    }
}
