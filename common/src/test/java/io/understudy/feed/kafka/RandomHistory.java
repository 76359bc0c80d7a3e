package io.understudy.feed.kafka;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;

/** Generates a possible history of an etcd cluster, with its final state. */
final class RandomHistory {

    private final Random random;
    private final int keys;
    private final TreeMap<ByteString, KeyValue> state = new TreeMap<>(KeyRange.KEY_ORDER);
    private long revision = 1;

    RandomHistory(long seed, int keys) {
        this.random = new Random(seed);
        this.keys = keys;
    }

    Revision revision() {
        return new Revision(revision);
    }

    List<KeyValue> state() {
        return List.copyOf(state.values());
    }

    /** A commit of some keys; now and then a revision passes first at which nothing happens in scope. */
    Commit next() {
        if (random.nextInt(10) == 0) {
            revision++;
        }
        Set<String> names = new LinkedHashSet<>();
        int size = 1 + random.nextInt(4);
        while (names.size() < size) {
            names.add("key-" + random.nextInt(keys));
        }
        revision++;
        List<Change> changes = new ArrayList<>();
        for (String name : names) {
            ByteString key = ByteString.copyFromUtf8(name);
            boolean delete = state.containsKey(key) && random.nextInt(3) == 0;
            changes.add(delete ? deleted(key) : set(key, random.nextInt(5) == 0 ? "" : "value " + revision));
        }
        return new Commit(revision(), changes);
    }

    List<Commit> next(int count) {
        List<Commit> commits = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            commits.add(next());
        }
        return commits;
    }

    /** One commit that sets those keys. */
    Commit put(String value, String... names) {
        revision++;
        List<Change> changes = new ArrayList<>();
        for (String name : names) {
            changes.add(set(ByteString.copyFromUtf8(name), value));
        }
        return new Commit(revision(), changes);
    }

    /** One commit that deletes everything. */
    Commit deleteAll() {
        revision++;
        List<Change> changes = new ArrayList<>();
        for (ByteString key : List.copyOf(state.keySet())) {
            changes.add(deleted(key));
        }
        return new Commit(revision(), changes);
    }

    private Change set(ByteString key, String value) {
        KeyValue before = state.get(key);
        KeyValue entry = new KeyValue(
                key,
                ByteString.copyFromUtf8(value),
                before == null ? revision() : before.createRevision(),
                revision(),
                before == null ? 1 : before.version() + 1,
                0);
        state.put(key, entry);
        return new Change.Put(entry);
    }

    private Change deleted(ByteString key) {
        state.remove(key);
        return new Change.Delete(key);
    }
}
