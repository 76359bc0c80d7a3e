package io.understudy.gateway.api;

import io.understudy.gateway.replica.Entry;
import java.util.Iterator;
import java.util.List;

/** The entries of an answer, in its order. Immutable; may be gone through any number of times. */
public interface Entries extends Iterable<Entry> {

    Entries NONE = of(List.of());

    long size();

    static Entries of(List<Entry> entries) {
        return new Entries() {
            @Override
            public long size() {
                return entries.size();
            }

            @Override
            public Iterator<Entry> iterator() {
                return entries.iterator();
            }
        };
    }
}
