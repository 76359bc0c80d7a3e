package io.understudy.gateway.api;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.Entry.EntryFields;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.gateway.replica.Totals;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The keys of a replica's state. */
public record ReplicaKeys(ReplicaState state) implements KeySpace {

    /** Up to this many entries, copying is faster than a search for the end. */
    private static final int FEW = 100;

    @Override
    public Revision revision() {
        return state.revision();
    }

    @Override
    public Runnable keep(Runnable end) {
        return state.keep(end);
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
        if (totals.count() <= limit) {
            return new Held(state, keys, totals, false);
        }
        return limit <= FEW ? few(keys, (int) limit) : held(state.first(keys, limit), false);
    }

    @Override
    public Entries descending(KeyRange keys, long limit) {
        Totals totals = state.totals(keys);
        return totals.count() <= limit ? new Held(state, keys, totals, true) : held(state.last(keys, limit), true);
    }

    private Held held(KeyRange keys, boolean descending) {
        return new Held(state, keys, state.totals(keys), descending);
    }

    private Entries few(KeyRange keys, int limit) {
        List<Entry> first = new ArrayList<>(limit);
        Iterator<Entry> all = state.cursor(keys);
        while (first.size() < limit) {
            first.add(all.next());
        }
        return Entries.of(first, this);
    }

    /** Entries read lazily from the state. */
    private record Held(ReplicaState state, KeyRange keys, Totals totals, boolean descends) implements Entries {

        @Override
        public long size() {
            return totals.count();
        }

        @Override
        public Runnable keep(Runnable end) {
            return state.keep(end);
        }

        @Override
        public long answerBytes(EntryFields fields) {
            return totals.answerBytes(fields);
        }

        @Override
        public Iterator<Entry> iterator() {
            return descends ? state.descending(keys) : state.cursor(keys);
        }
    }
}
