package io.understudy.gateway.replica;

import io.understudy.gateway.replica.Entry.EntryFields;

/**
 * The number and sizes of some entries.
 *
 * @param count number of entries
 * @param bytes of their keys and values
 * @param answerBytes their size in a response, as elements of a repeated field with a tag of one byte
 * @param answerBytesWithoutValues the same with values left out
 * @param answerBytesOfKeys the same with leases left out too
 */
public record Totals(long count, long bytes, long answerBytes, long answerBytesWithoutValues, long answerBytesOfKeys) {

    static final Totals NONE = new Totals(0, 0, 0, 0, 0);

    static Totals of(byte[] wire) {
        Entry entry = new Entry(wire);
        return new Totals(
                1,
                entry.bytes(),
                element(wire.length),
                element(entry.wireSize(EntryFields.WITHOUT_VALUE)),
                element(entry.wireSize(EntryFields.WITHOUT_VALUE_AND_LEASE)));
    }

    /** The size of the entries in a response with these fields. */
    public long answerBytes(EntryFields fields) {
        return switch (fields) {
            case ALL -> answerBytes;
            case WITHOUT_VALUE -> answerBytesWithoutValues;
            case WITHOUT_VALUE_AND_LEASE -> answerBytesOfKeys;
        };
    }

    Totals plus(Totals other) {
        return new Totals(
                count + other.count,
                bytes + other.bytes,
                answerBytes + other.answerBytes,
                answerBytesWithoutValues + other.answerBytesWithoutValues,
                answerBytesOfKeys + other.answerBytesOfKeys);
    }

    Totals minus(Totals other) {
        return new Totals(
                count - other.count,
                bytes - other.bytes,
                answerBytes - other.answerBytes,
                answerBytesWithoutValues - other.answerBytesWithoutValues,
                answerBytesOfKeys - other.answerBytesOfKeys);
    }

    private static long element(int size) {
        return 1L + Entry.varintSize(size) + size;
    }
}
