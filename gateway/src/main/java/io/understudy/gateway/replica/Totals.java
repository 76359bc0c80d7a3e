package io.understudy.gateway.replica;

/**
 * What some entries amount to.
 *
 * @param count how many they are
 * @param bytes of their keys and values
 * @param answerBytes that they take in an answer, as elements of a repeated field with a tag of one byte
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

    /** Bytes that the entries take in an answer with these fields. */
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
