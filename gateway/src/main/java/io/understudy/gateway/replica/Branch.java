package io.understudy.gateway.replica;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Nodes of one height in key order; none is empty. */
final class Branch implements Node {

    private final Node[] children;
    /**
     * Lower bounds of the children, of which the first is ignored. Keys of earlier children are smaller. Kept here so
     * that a search touches this node only, and shared by the nodes that replace this one while their children's bounds
     * stay.
     */
    private final byte[][] bounds;

    private final Totals totals;

    /** Takes ownership of the arrays. */
    Branch(Node[] children, byte[][] bounds) {
        this(children, bounds, sum(children, 0, children.length));
    }

    private Branch(Node[] children, byte[][] bounds, Totals totals) {
        this.children = children;
        this.bounds = bounds;
        this.totals = totals;
    }

    Node child(int index) {
        return children[index];
    }

    byte[] bound(int index) {
        return bounds[index];
    }

    @Override
    public int width() {
        return children.length;
    }

    @Override
    public Totals totals() {
        return totals;
    }

    @Override
    public byte[] first() {
        return children[0].first();
    }

    @Override
    public Node[] apply(Edits edits, int from, int to, Widths widths) {
        int at = childFor(edits.key(from));
        int end = at == children.length - 1 ? to : edits.lowerBound(from, to, bounds[at + 1]);
        Node child = children[at];
        Node[] changed = child.apply(edits, from, end, widths);
        if (end == to && changed.length == 1) {
            if (changed[0] == child) {
                return new Node[] {this};
            }
            if (changed[0].width() >= widths.least()) {
                edits.replaced(ownBytes());
                Node[] next = children.clone();
                next[at] = changed[0];
                Totals sums = totals.minus(child.totals()).plus(changed[0].totals());
                return new Node[] {new Branch(next, bounds, sums)};
            }
        }
        edits.replaced(ownBytes());
        Row row = new Row();
        row.addChildren(this, 0, at);
        row.addAll(changed, bounds[at]);
        while (end < to) {
            int next = childFor(edits.key(end));
            row.addChildren(this, at + 1, next);
            at = next;
            int begin = end;
            end = at == children.length - 1 ? to : edits.lowerBound(begin, to, bounds[at + 1]);
            row.addAll(children[at].apply(edits, begin, end, widths), bounds[at]);
        }
        row.addChildren(this, at + 1, children.length);
        row.widen(widths);
        return row.branches(widths);
    }

    @Override
    public Totals totals(byte @Nullable [] from, byte @Nullable [] to) {
        if (from == null && to == null) {
            return totals;
        }
        int begin = from == null ? 0 : childFor(from);
        int end = to == null ? children.length - 1 : childFor(to);
        if (begin == end) {
            return children[begin].totals(from, to);
        }
        return children[begin]
                .totals(from, null)
                .plus(sum(children, begin + 1, end))
                .plus(children[end].totals(null, to));
    }

    @Override
    public long ownBytes() {
        return Heap.BRANCH + Heap.ofReferences(children.length);
    }

    /** The only child that may hold the key. */
    Node childOf(byte[] key) {
        return children[childFor(key)];
    }

    /** The last child with a bound not after {@code key}; else the first child. */
    int childFor(byte[] key) {
        int low = 1;
        int high = bounds.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Arrays.compareUnsigned(bounds[middle], key) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return low - 1;
    }

    private static Totals sum(Node[] nodes, int from, int to) {
        Totals sum = Totals.NONE;
        for (int i = from; i < to; i++) {
            sum = sum.plus(nodes[i].totals());
        }
        return sum;
    }
}
