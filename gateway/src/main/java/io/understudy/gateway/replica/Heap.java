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

    /**
     * The node widths of a tree.
     *
     * @param most entries of a leaf, children of a branch
     */
    record Widths(int most) {

        /** No other measured value is better, see docs/performance.md. */
        static final Widths DEFAULT = new Widths(32);

        Widths {
            if (most < 4) {
                throw new IllegalArgumentException("node width is " + most + "; allowed: at least 4");
            }
        }

        /** A node narrower than this is joined with a neighbour. */
        int least() {
            return most / 4;
        }

        /** The number of nodes for {@code size} entries or children. */
        int parts(int size) {
            return (size + most - 1) / most;
        }

        /** The start of the given part of {@code parts} nearly equal ones. */
        static int begin(int size, int parts, int part) {
            return (int) ((long) size * part / parts);
        }
    }
}
