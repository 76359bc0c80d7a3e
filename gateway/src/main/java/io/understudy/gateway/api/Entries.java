package io.understudy.gateway.api;

import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.Entry.EntryFields;
import java.util.Iterator;
import java.util.List;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

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
        return listed(entries, at::keep, of(entries).answerBytes(fields));
    }

    /** These of a key space. */
    static Entries of(List<Entry> entries, KeySpace at) {
        return listed(entries, at::keep, null);
    }

    static Entries of(List<Entry> entries) {
        return listed(entries, end -> () -> {}, null);
    }

    private static Entries listed(List<Entry> entries, UnaryOperator<Runnable> keep, @Nullable Long bytes) {
        return new Entries() {
            @Override
            public long size() {
                return entries.size();
            }

            @Override
            public long answerBytes(EntryFields fields) {
                return bytes == null ? Entries.super.answerBytes(fields) : bytes;
            }

            @Override
            public Runnable keep(Runnable end) {
                return keep.apply(end);
            }

            @Override
            public Iterator<Entry> iterator() {
                return entries.iterator();
            }
        };
    }
}
