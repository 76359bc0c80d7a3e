package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.gateway.replica.Totals;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A replica's state, to be asked. */
public record ReplicaKeys(ReplicaState state) implements KeySpace {

    @Override
    public Revision revision() {
        return state.revision();
    }

    @Override
    public @Nullable Entry get(ByteString key) {
        return state.get(key);
    }

    @Override
    public long count(KeyRange keys) {
        return state.count(keys);
    }

    @Override
    public Entries entries(KeyRange keys, long limit) {
        Totals totals = state.totals(keys);
        return totals.count() <= limit ? new Held(state, keys, totals) : first(keys, (int) limit);
    }

    private Entries first(KeyRange keys, int limit) {
        List<Entry> first = new ArrayList<>(limit);
        Iterator<Entry> all = state.cursor(keys);
        while (first.size() < limit) {
            first.add(all.next());
        }
        return Entries.of(first);
    }

    /** Entries that are read where they are held, when they are wanted. */
    private record Held(ReplicaState state, KeyRange keys, Totals totals) implements Entries {

        @Override
        public long size() {
            return totals.count();
        }

        @Override
        public long answerBytes() {
            return totals.answerBytes();
        }

        @Override
        public long answerBytesWithoutValues() {
            return totals.answerBytesWithoutValues();
        }

        @Override
        public Iterator<Entry> iterator() {
            return state.cursor(keys);
        }
    }
}
