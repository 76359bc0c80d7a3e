package io.understudy.gateway.replica;

/**
 * What some entries amount to.
 *
 * @param count how many they are
 * @param bytes of their keys and values
 * @param answerBytes that they take in an answer, as elements of a repeated field with a tag of one byte
 * @param answerBytesWithoutValues the same with values left out
 */
public record Totals(long count, long bytes, long answerBytes, long answerBytesWithoutValues) {

    static final Totals NONE = new Totals(0, 0, 0, 0);

    static Totals of(byte[] wire) {
        Entry entry = new Entry(wire);
        return new Totals(1, entry.bytes(), element(entry.wireSize()), element(entry.wireSizeWithoutValue()));
    }

    Totals plus(Totals other) {
        return new Totals(
                count + other.count,
                bytes + other.bytes,
                answerBytes + other.answerBytes,
                answerBytesWithoutValues + other.answerBytesWithoutValues);
    }

    Totals minus(Totals other) {
        return new Totals(
                count - other.count,
                bytes - other.bytes,
                answerBytes - other.answerBytes,
                answerBytesWithoutValues - other.answerBytesWithoutValues);
    }

    private static long element(int size) {
        return 1L + Entry.varintSize(size) + size;
    }
}
