package io.understudy.gateway.replica;

import io.understudy.gateway.replica.EntryTree.Edits;
import io.understudy.gateway.replica.Heap.Widths;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** A node of an {@link EntryTree}. Immutable, as are the arrays behind it once it is constructed. */
sealed interface Node {

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

    /** Entries in key order as encodings, which saves an object and a dereference each. */
    final class Leaf implements Node {

        static final Leaf EMPTY = new Leaf(new byte[0][], Totals.NONE);

        private static final byte[][] NOTHING = {};

        private final byte[][] wires;
        private final Totals totals;

        private Leaf(byte[][] wires, Totals totals) {
            this.wires = wires;
            this.totals = totals;
        }

        /** Takes ownership of the array. */
        static Leaf of(byte[][] wires) {
            return new Leaf(wires, sum(wires, 0, wires.length));
        }

        byte[][] wires() {
            return wires;
        }

        @Override
        public int width() {
            return wires.length;
        }

        @Override
        public Totals totals() {
            return totals;
        }

        @Override
        public byte[] first() {
            return Entry.copyKey(wires[0]);
        }

        byte @Nullable [] get(byte[] key) {
            int at = search(key, 0);
            return at >= 0 ? wires[at] : null;
        }

        @Override
        public Node[] apply(Edits edits, int from, int to, Widths widths) {
            if (to - from > 1) {
                return merge(edits, from, to, widths);
            }
            byte[] wire = edits.wire(from);
            int at = search(edits.key(from), 0);
            if (wire == null) {
                return at < 0 ? new Node[] {this} : removed(at, edits);
            }
            edits.replaced(ownBytes());
            if (at >= 0) {
                byte[][] changed = wires.clone();
                changed[at] = wire;
                edits.replaced(Heap.ofArray(wires[at].length));
                Totals sums = totals.minus(Totals.of(wires[at])).plus(Totals.of(wire));
                return new Node[] {new Leaf(changed, sums)};
            }
            byte[][] changed = Slices.replace(wires, -at - 1, -at - 1, new byte[][] {wire});
            return changed.length <= widths.most()
                    ? new Node[] {new Leaf(changed, totals.plus(Totals.of(wire)))}
                    : split(changed, widths);
        }

        private Node[] removed(int at, Edits edits) {
            edits.replaced(ownBytes() + Heap.ofArray(wires[at].length));
            return wires.length == 1
                    ? new Node[0]
                    : new Node[] {
                        new Leaf(Slices.replace(wires, at, at + 1, NOTHING), totals.minus(Totals.of(wires[at])))
                    };
        }

        private Node[] merge(Edits edits, int from, int to, Widths widths) {
            edits.replaced(ownBytes());
            byte[][] merged = new byte[wires.length + to - from][];
            int size = 0;
            int read = 0;
            for (int i = from; i < to; i++) {
                int at = search(edits.key(i), read);
                int next = at >= 0 ? at : -at - 1;
                System.arraycopy(wires, read, merged, size, next - read);
                size += next - read;
                read = next;
                if (at >= 0) {
                    edits.replaced(Heap.ofArray(wires[at].length));
                    read++;
                }
                byte[] wire = edits.wire(i);
                if (wire != null) {
                    merged[size++] = wire;
                }
            }
            System.arraycopy(wires, read, merged, size, wires.length - read);
            return split(Arrays.copyOf(merged, size + wires.length - read), widths);
        }

        @Override
        public Totals totals(byte @Nullable [] from, byte @Nullable [] to) {
            int begin = from == null ? 0 : rank(from);
            int end = to == null ? wires.length : rank(to);
            if (begin == 0 && end == wires.length) {
                return totals;
            }
            return sum(wires, begin, end);
        }

        @Override
        public long ownBytes() {
            return Heap.LEAF + Heap.ofReferences(wires.length);
        }

        /** Leaves of nearly equal width, as few as there can be. */
        static Node[] split(byte[][] wires, Widths widths) {
            int parts = widths.parts(wires.length);
            Node[] leaves = new Node[parts];
            for (int i = 0; i < parts; i++) {
                leaves[i] = of(
                        parts == 1
                                ? wires
                                : Arrays.copyOfRange(
                                        wires,
                                        Widths.begin(wires.length, parts, i),
                                        Widths.begin(wires.length, parts, i + 1)));
            }
            return leaves;
        }

        /** The number of keys smaller than {@code key}. */
        int rank(byte[] key) {
            int at = search(key, 0);
            return at >= 0 ? at : -at - 1;
        }

        /** Returns the index of the key, searched from {@code low} on, or {@code -insertion - 1}. */
        private int search(byte[] key, int low) {
            int high = wires.length - 1;
            while (low <= high) {
                int middle = (low + high) >>> 1;
                int order = Entry.compareKey(wires[middle], key);
                if (order == 0) {
                    return middle;
                }
                if (order < 0) {
                    low = middle + 1;
                } else {
                    high = middle - 1;
                }
            }
            return -low - 1;
        }

        private static Totals sum(byte[][] wires, int from, int to) {
            Totals sum = Totals.NONE;
            for (int i = from; i < to; i++) {
                sum = sum.plus(Totals.of(wires[i]));
            }
            return sum;
        }
    }

    /** Copies of small arrays, changed in one place. */
    final class Slices {

        private Slices() {}

        /** Returns {@code array} with the elements in {@code [from, to)} replaced. */
        static <T> T[] replace(T[] array, int from, int to, T[] replacement) {
            T[] result = Arrays.copyOf(array, array.length - (to - from) + replacement.length);
            System.arraycopy(replacement, 0, result, from, replacement.length);
            System.arraycopy(array, to, result, from + replacement.length, array.length - to);
            return result;
        }

        static <T> T[] concat(T[] left, T[] right) {
            return replace(left, left.length, left.length, right);
        }
    }
}
