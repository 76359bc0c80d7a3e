package io.understudy.gateway.replica;

/**
 * How wide the nodes of a tree are.
 *
 * @param most entries of a leaf, children of a branch
 */
record Widths(int most) {

    /** No measured value is better, see docs/performance.md. */
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

    /** How many nodes {@code size} entries or children need. */
    int parts(int size) {
        return (size + most - 1) / most;
    }

    /** Where the given part begins, of {@code parts} nearly equal ones. */
    static int begin(int size, int parts, int part) {
        return (int) ((long) size * part / parts);
    }
}
