package io.understudy.gateway.replica;

/** Heap use on a 64-bit JVM with compressed references, for limits. A test compares it with the actual use. */
final class Heap {

    /** Object, totals and array header. */
    static final int LEAF = 24 + 48;

    static final int BRANCH = 24 + 48;

    private static final int ARRAY_HEADER = 16;
    private static final int REFERENCE = 4;
    private static final int ALIGNMENT = 8;

    /** Header and alignment of its array, and its share of the nodes above. */
    private static final long BYTES_BESIDE_AN_ENTRY = 34;

    private Heap() {}

    static long ofArray(int bytes) {
        return align(ARRAY_HEADER + (long) bytes);
    }

    static long ofReferences(int length) {
        return align(ARRAY_HEADER + (long) REFERENCE * length);
    }

    /** Heap use of a tree with such entries. */
    static long ofEntries(Totals totals) {
        return totals.answerBytes() + BYTES_BESIDE_AN_ENTRY * totals.count();
    }

    private static long align(long bytes) {
        return (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
}
