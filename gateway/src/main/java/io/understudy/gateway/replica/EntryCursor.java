package io.understudy.gateway.replica;

import io.understudy.gateway.replica.Node.Branch;
import io.understudy.gateway.replica.Node.Leaf;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * Iterates over a range of one immutable state in key order. The end was found beforehand, so that no keys are compared
 * on the way. For one thread; several cursors may be open.
 */
public final class EntryCursor implements Iterator<Entry> {

    /** The branches from the root to the current leaf, with the next child of each. */
    private final Branch[] path;

    private final int[] places;
    private Leaf leaf;
    private int place;
    private long remaining;

    EntryCursor(Node root, byte[] from, long count) {
        int height = 0;
        for (Node node = root; node instanceof Branch branch; node = branch.child(0)) {
            height++;
        }
        this.path = new Branch[height];
        this.places = new int[height];
        this.remaining = count;
        Node node = root;
        for (int depth = 0; depth < height; depth++) {
            path[depth] = (Branch) node;
            places[depth] = path[depth].childFor(from);
            node = path[depth].child(places[depth]);
        }
        this.leaf = (Leaf) node;
        this.place = leaf.rank(from);
    }

    @Override
    public boolean hasNext() {
        return remaining > 0;
    }

    @Override
    public Entry next() {
        if (remaining == 0) {
            throw new NoSuchElementException("end of the range reached");
        }
        remaining--;
        if (place == leaf.width()) {
            nextLeaf();
        }
        return new Entry(leaf.wires()[place++]);
    }

    private void nextLeaf() {
        int depth = path.length - 1;
        while (places[depth] == path[depth].width() - 1) {
            depth--;
        }
        Node node = path[depth].child(++places[depth]);
        while (node instanceof Branch branch) {
            path[++depth] = branch;
            places[depth] = 0;
            node = branch.child(0);
        }
        leaf = (Leaf) node;
        place = 0;
    }

    /**
     * Iterates over a range of one immutable state in descending key order. Each leaf is found by the number of entries
     * before it. For one thread; several cursors may be open.
     */
    public static final class DescendingCursor implements Iterator<Entry> {

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
}
