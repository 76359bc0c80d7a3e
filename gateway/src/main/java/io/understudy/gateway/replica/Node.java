package io.understudy.gateway.replica;

import org.jspecify.annotations.Nullable;

/** A node of an {@link EntryTree}. Immutable, as are the arrays behind it once it is constructed. */
sealed interface Node permits Leaf, Branch {

    /** Number of entries in a leaf, or of children in a branch. */
    int width();

    /** Totals of the entries below this node. */
    Totals totals();

    /** The smallest key. Not for an empty leaf. */
    byte[] first();

    /**
     * Returns any number of adjoining nodes of its height after the edits in {@code [from, to)}. They may be narrow,
     * but none is empty or too wide. The node itself if nothing changed.
     */
    Node[] apply(Edits edits, int from, int to, Widths widths);

    /** The totals of the entries in {@code [from, to)}; null is an open end. */
    Totals totals(byte @Nullable [] from, byte @Nullable [] to);

    /** Heap use of the node itself, without its children. */
    long ownBytes();

    /** Joins two adjoining nodes of one height, into two of even width if too wide. */
    static Node[] join(Node left, Node right, Widths widths) {
        if (left instanceof Leaf a && right instanceof Leaf b) {
            return Leaf.split(Slices.concat(a.wires(), b.wires()), widths);
        }
        if (left instanceof Branch a && right instanceof Branch b) {
            Row row = new Row();
            row.addChildren(a, 0, a.width());
            row.add(b.child(0), b.first());
            row.addChildren(b, 1, b.width());
            row.widen(widths);
            return row.branches(widths);
        }
        throw new IllegalArgumentException("nodes differ in height");
    }
}
