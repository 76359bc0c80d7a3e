package io.understudy.gateway.replica;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

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
                : new Node[] {new Leaf(Slices.replace(wires, at, at + 1, NOTHING), totals.minus(Totals.of(wires[at])))};
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
