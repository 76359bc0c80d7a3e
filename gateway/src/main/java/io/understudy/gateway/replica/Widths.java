package io.understudy.gateway.replica;

/**
 * How wide the nodes of a tree are.
 *
 * @param most entries of a leaf, children of a branch
 */
record Widths(int most) {

    /** None of those measured stands out, see the README. */
    static final Widths DEFAULT = new Widths(32);

    Widths {
        if (most < 4) {
            throw new IllegalArgumentException("a node of at most " + most + " can't be split and joined");
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
