package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Entries in key order: a persistent B+ tree. Immutable; a changed tree shares all but the changed path with the one it
 * was made from.
 */
final class EntryTree {

    static final EntryTree EMPTY = new EntryTree(Leaf.EMPTY);

    private final Node root;

    private EntryTree(Node root) {
        this.root = root;
    }

    long count() {
        return root.count();
    }

    /** Bytes of keys and values. */
    long bytes() {
        return root.bytes();
    }

    @Nullable Entry get(ByteString key) {
        return root.get(key);
    }

    EntryTree with(Entry entry) {
        Node[] grown = root.with(entry);
        return new EntryTree(grown.length == 1 ? grown[0] : new Branch(grown));
    }

    EntryTree without(ByteString key) {
        Node shrunk = root.without(key);
        if (shrunk == root) {
            return this;
        }
        while (shrunk instanceof Branch branch && branch.width() == 1) {
            shrunk = branch.children()[0];
        }
        return new EntryTree(shrunk);
    }

    /** Keys inside the range, without visiting them. */
    long count(KeyRange range) {
        long end = range.to() == null ? root.count() : root.rank(range.to());
        return end - root.rank(range.from());
    }

    /** Visits the range's entries in key order until the visitor has enough. */
    void scan(KeyRange range, EntryVisitor visitor) {
        ByteString to = range.to();
        boolean unused = root.scan(
                range.from(),
                to == null
                        ? visitor
                        : entry -> KeyRange.KEY_ORDER.compare(entry.key(), to) < 0 && visitor.visit(entry));
    }

    /** Makes a tree of entries given in key order, in linear time. */
    static final class Builder {
        private final List<Node> leaves = new ArrayList<>();
        private final List<Entry> pending = new ArrayList<>(Node.MAX_WIDTH);

        /** Takes the next entry; its key is after all given so far. */
        void add(Entry entry) {
            if (pending.size() == Node.MAX_WIDTH) {
                flush();
            }
            pending.add(entry);
        }

        EntryTree build() {
            flush();
            List<Node> level = leaves;
            while (level.size() > 1) {
                List<Node> above = new ArrayList<>();
                for (int i = 0; i < level.size(); i += Node.MAX_WIDTH) {
                    above.add(new Branch(level.subList(i, Math.min(i + Node.MAX_WIDTH, level.size()))
                            .toArray(new Node[0])));
                }
                level = above;
            }
            return level.isEmpty() ? EMPTY : new EntryTree(level.get(0));
        }

        private void flush() {
            if (!pending.isEmpty()) {
                leaves.add(new Leaf(pending.toArray(new Entry[0])));
                pending.clear();
            }
        }
    }
}
