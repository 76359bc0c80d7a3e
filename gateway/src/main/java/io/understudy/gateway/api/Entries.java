package io.understudy.gateway.api;

import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.Entry.EntryFields;
import java.util.Iterator;
import java.util.List;

/** The entries of an answer, in its order. Immutable and repeatedly iterable. */
public interface Entries extends Iterable<Entry> {

    Entries NONE = of(List.of());

    long size();

    /** Returns the encoded size of these fields in a repeated field with a one-byte tag. */
    default long answerBytes(EntryFields fields) {
        long bytes = 0;
        for (Entry entry : this) {
            bytes += ProtoFields.lengthDelimitedSize(entry.wireSize(fields));
        }
        return bytes;
    }

    /** As {@link AnswerBody#keep}. */
    default Runnable keep(Runnable end) {
        return () -> {};
    }

    /** These of a key space, counted up at once for an answer with {@code fields}. */
    static Entries measured(List<Entry> entries, EntryFields fields, KeySpace at) {
        Entries listed = of(entries, at);
        long bytes = listed.answerBytes(fields);
        return new Entries() {
            @Override
            public long size() {
                return listed.size();
            }

            @Override
            public long answerBytes(EntryFields same) {
                return bytes;
            }

            @Override
            public Runnable keep(Runnable end) {
                return listed.keep(end);
            }

            @Override
            public Iterator<Entry> iterator() {
                return listed.iterator();
            }
        };
    }

    /** These of a key space. */
    static Entries of(List<Entry> entries, KeySpace at) {
        return new Entries() {
            @Override
            public long size() {
                return entries.size();
            }

            @Override
            public Runnable keep(Runnable end) {
                return at.keep(end);
            }

            @Override
            public Iterator<Entry> iterator() {
                return entries.iterator();
            }
        };
    }

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
