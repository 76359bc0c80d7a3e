package io.understudy.gateway.api;

import io.understudy.gateway.replica.Entry;
import java.util.Iterator;
import java.util.List;

/** The entries of an answer, in its order. Immutable; may be gone through any number of times. */
public interface Entries extends Iterable<Entry> {

    Entries NONE = of(List.of());

    long size();

    /** Bytes that they take in an answer, as elements of a repeated field whose tag is one byte. */
    default long answerBytes() {
        long bytes = 0;
        for (Entry entry : this) {
            bytes += ProtoFields.lengthDelimitedSize(entry.wireSize());
        }
        return bytes;
    }

    /** The same with values left out. */
    default long answerBytesWithoutValues() {
        long bytes = 0;
        for (Entry entry : this) {
            bytes += ProtoFields.lengthDelimitedSize(entry.wireSizeWithoutValue());
        }
        return bytes;
    }

    /** These, counted up at once: afterwards nothing asks for more than a moment, however many they are. */
    static Entries measured(List<Entry> entries) {
        Entries listed = of(entries);
        long bytes = listed.answerBytes();
        long withoutValues = listed.answerBytesWithoutValues();
        return new Entries() {
            @Override
            public long size() {
                return listed.size();
            }

            @Override
            public long answerBytes() {
                return bytes;
            }

            @Override
            public long answerBytesWithoutValues() {
                return withoutValues;
            }

            @Override
            public Iterator<Entry> iterator() {
                return listed.iterator();
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
