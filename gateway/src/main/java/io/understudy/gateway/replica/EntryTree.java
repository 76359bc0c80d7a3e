package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.gateway.replica.EntryCursor.DescendingCursor;
import io.understudy.gateway.replica.Heap.Widths;
import io.understudy.gateway.replica.Node.Branch;
import io.understudy.gateway.replica.Node.Leaf;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Entries in key order: an immutable, persistent B+ tree. A changed tree shares all but the changed paths with its
 * origin. All changes of a commit are made in one pass, so that a path they share is copied once.
 */
final class EntryTree {

    static final EntryTree EMPTY = empty(Widths.DEFAULT);

    private final Node root;
    private final Widths widths;

    private EntryTree(Node root, Widths widths) {
        this.root = root;
        this.widths = widths;
    }

    static EntryTree empty(Widths widths) {
        return new EntryTree(Leaf.EMPTY, widths);
    }

    /** The totals of all entries. */
    Totals totals() {
        return root.totals();
    }

    @Nullable Entry get(ByteString key) {
        byte[] bytes = key.toByteArray();
        Node node = root;
        while (node instanceof Branch branch) {
            node = branch.childOf(bytes);
        }
        byte[] wire = ((Leaf) node).get(bytes);
        return wire == null ? null : new Entry(wire);
    }

    EntryTree apply(Edits edits) {
        if (edits.size() == 0) {
            return this;
        }
        Node[] level = root.apply(edits, 0, edits.size(), widths);
        while (level.length > 1) {
            Row row = new Row();
            row.addAll(level, level[0].first());
            level = row.branches(widths);
        }
        Node top = level.length == 0 ? Leaf.EMPTY : level[0];
        while (top instanceof Branch branch && branch.width() == 1) {
            top = branch.child(0);
        }
        return top == root ? this : new EntryTree(top, widths);
    }

    /** The totals of the range's entries, in logarithmic time. */
    Totals totals(KeyRange range) {
        ByteString to = range.to();
        return root.totals(
                range.from().isEmpty() ? null : range.from().toByteArray(), to == null ? null : to.toByteArray());
    }

    /** The range's entries in key order. */
    EntryCursor cursor(KeyRange range) {
        return new EntryCursor(root, range.from().toByteArray(), totals(range).count());
    }

    /** The range's entries in descending key order. */
    DescendingCursor descending(KeyRange range) {
        return new DescendingCursor(root, rank(range.to()), totals(range).count());
    }

    /** The part of the range with its first {@code count} entries; it has more. In logarithmic time. */
    KeyRange first(KeyRange range, long count) {
        return new KeyRange(range.from(), keyAt(rank(range.from()) + count));
    }

    /** Returns the part of the range with its last {@code count} entries, at least one. The range has more entries. */
    KeyRange last(KeyRange range, long count) {
        return new KeyRange(keyAt(rank(range.to()) - count), range.to());
    }

    /** The number of keys smaller than {@code key}; of all keys if it is null. */
    private long rank(@Nullable ByteString key) {
        if (key == null) {
            return root.totals().count();
        }
        return key.isEmpty() ? 0 : root.totals(null, key.toByteArray()).count();
    }

    private ByteString keyAt(long rank) {
        DescendingCursor from = new DescendingCursor(root, rank + 1, 1);
        return from.next().key();
    }

    /** Builds a tree from entries in key order, in linear time. */
    static final class Builder {
        private final Widths widths;
        private final List<byte[]> pending;
        private Row row = new Row();

        Builder(Widths widths) {
            this.widths = widths;
            this.pending = new ArrayList<>(widths.most());
        }

        /** Adds the next entry, with a key after all previous ones. */
        void add(Entry entry) {
            if (pending.size() == widths.most()) {
                flush();
            }
            pending.add(entry.wire());
        }

        EntryTree build() {
            flush();
            while (row.size() > 1) {
                Row above = new Row();
                Node[] branches = row.branches(widths);
                above.addAll(branches, branches[0].first());
                row = above;
            }
            return row.size() == 0 ? empty(widths) : new EntryTree(row.node(0), widths);
        }

        private void flush() {
            if (!pending.isEmpty()) {
                Leaf leaf = Leaf.of(pending.toArray(new byte[0][]));
                row.add(leaf, leaf.first());
                pending.clear();
            }
        }
    }

    /**
     * One commit's changes in key order, applied to a tree in one pass. Accounts for what the new tree no longer holds,
     * which a previous state retains. Used once.
     */
    static final class Edits {

        private final byte[][] keys;
        /** The new encoding, or null for a deleted key. */
        private final byte[] @Nullable [] wires;

        private long replacedBytes;

        private Edits(byte[][] keys, byte[] @Nullable [] wires) {
            this.keys = keys;
            this.wires = wires;
        }

        private static final class Edit {
            private final byte[] key;
            private final byte @Nullable [] wire;

            private Edit(Entry entry) {
                key = Entry.copyKey(entry.wire());
                wire = entry.isDeleted() ? null : entry.wire();
            }
        }

        /** The changes of one commit, with deletes; for each key the last one. */
        static Edits of(List<Entry> changes) {
            List<Edit> edits = new ArrayList<>(changes.size());
            for (Entry change : changes) {
                edits.add(new Edit(change));
            }
            edits.sort((a, b) -> Arrays.compareUnsigned(a.key, b.key));
            byte[][] keys = new byte[edits.size()][];
            byte[][] wires = new byte[edits.size()][];
            int size = 0;
            for (Edit edit : edits) {
                if (size > 0 && Arrays.equals(keys[size - 1], edit.key)) {
                    size--;
                }
                keys[size] = edit.key;
                wires[size++] = edit.wire;
            }
            return size == keys.length
                    ? new Edits(keys, wires)
                    : new Edits(Arrays.copyOf(keys, size), Arrays.copyOf(wires, size));
        }

        int size() {
            return keys.length;
        }

        byte[] key(int index) {
            return keys[index];
        }

        byte @Nullable [] wire(int index) {
            return wires[index];
        }

        /** The first edit in {@code [from, to)} with a key not before {@code key}. */
        int lowerBound(int from, int to, byte[] key) {
            int low = from;
            int high = to;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (Arrays.compareUnsigned(keys[middle], key) < 0) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }

        /** Accounts for bytes of the old tree that are not in the new one. */
        void replaced(long bytes) {
            replacedBytes += bytes;
        }

        /** The heap that only the old tree holds. */
        long replacedBytes() {
            return replacedBytes;
        }
    }
}
