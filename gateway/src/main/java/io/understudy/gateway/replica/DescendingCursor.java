package io.understudy.gateway.replica;

import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * Iterates over a range of one immutable state in descending key order. Each leaf is found by the number of entries
 * before it. For one thread; several cursors may be open.
 */
public final class DescendingCursor implements Iterator<Entry> {

    private final Node root;
    /** Entries of the whole state before the last returned one. */
    private long before;

    private long remaining;
    private Leaf leaf = Leaf.EMPTY;
    /** The remaining entries of the leaf. */
    private int place;

    /** Iterates over {@code count} entries, down from the one with index {@code before - 1}. */
    DescendingCursor(Node root, long before, long count) {
        this.root = root;
        this.before = before;
        this.remaining = count;
    }

    @Override
    public boolean hasNext() {
        return remaining > 0;
    }

    @Override
    public Entry next() {
        if (remaining == 0) {
            throw new NoSuchElementException("start of the range reached");
        }
        if (place == 0) {
            previousLeaf();
        }
        remaining--;
        before--;
        return new Entry(leaf.wires()[--place]);
    }

    /** The one that holds the entry before which there are {@code before - 1}. */
    private void previousLeaf() {
        long left = before;
        Node node = root;
        while (node instanceof Branch branch) {
            int child = 0;
            long below = branch.child(0).totals().count();
            while (below < left) {
                left -= below;
                below = branch.child(++child).totals().count();
            }
            node = branch.child(child);
        }
        leaf = (Leaf) node;
        place = (int) left;
    }
}
