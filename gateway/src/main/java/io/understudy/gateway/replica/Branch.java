package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Nodes of one height in key order; none is empty. */
final class Branch implements Node {

    private final Node[] children;
    /** The smallest key of each child, kept here so that a search touches this node only. */
    private final ByteString[] firsts;

    private final long count;
    private final long bytes;

    /** Takes the array over. */
    Branch(Node[] children) {
        this.children = children;
        this.firsts = new ByteString[children.length];
        long keys = 0;
        long sum = 0;
        for (int i = 0; i < children.length; i++) {
            firsts[i] = children[i].first();
            keys += children[i].count();
            sum += children[i].bytes();
        }
        this.count = keys;
        this.bytes = sum;
    }

    Node[] children() {
        return children;
    }

    @Override
    public int width() {
        return children.length;
    }

    @Override
    public long count() {
        return count;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    @Override
    public ByteString first() {
        return firsts[0];
    }

    @Override
    public @Nullable Entry get(ByteString key) {
        return children[childFor(key)].get(key);
    }

    @Override
    public Node[] with(Entry entry) {
        int at = childFor(entry.key());
        return split(Slices.replace(children, at, at + 1, children[at].with(entry)));
    }

    @Override
    public Node without(ByteString key) {
        int at = childFor(key);
        Node child = children[at];
        Node shrunk = child.without(key);
        if (shrunk == child) {
            return this;
        }
        if (shrunk.width() >= MIN_WIDTH || children.length == 1) {
            return shrunk.width() == 0
                    ? Leaf.EMPTY
                    : new Branch(Slices.replace(children, at, at + 1, new Node[] {shrunk}));
        }
        if (shrunk.width() == 0) {
            return new Branch(Slices.replace(children, at, at + 1, new Node[0]));
        }
        return at > 0
                ? new Branch(Slices.replace(children, at - 1, at + 1, Node.join(children[at - 1], shrunk)))
                : new Branch(Slices.replace(children, at, at + 2, Node.join(shrunk, children[at + 1])));
    }

    @Override
    public long rank(ByteString key) {
        int at = childFor(key);
        long before = 0;
        for (int i = 0; i < at; i++) {
            before += children[i].count();
        }
        return before + children[at].rank(key);
    }

    @Override
    public boolean scan(@Nullable ByteString from, EntryVisitor visitor) {
        int at = from == null ? 0 : childFor(from);
        if (!children[at].scan(from, visitor)) {
            return false;
        }
        for (int i = at + 1; i < children.length; i++) {
            if (!children[i].scan(null, visitor)) {
                return false;
            }
        }
        return true;
    }

    /** One branch, or two if that would be too wide. */
    static Node[] split(Node[] children) {
        if (children.length <= MAX_WIDTH) {
            return new Node[] {new Branch(children)};
        }
        int half = children.length / 2;
        return new Node[] {
            new Branch(Arrays.copyOfRange(children, 0, half)),
            new Branch(Arrays.copyOfRange(children, half, children.length))
        };
    }

    /** The last child whose first key isn't after {@code key}; the first child for keys before all. */
    private int childFor(ByteString key) {
        int low = 1;
        int high = firsts.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (KeyRange.KEY_ORDER.compare(firsts[middle], key) <= 0) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return low - 1;
    }
}
