package io.understudy.gateway.replica;

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
