package io.understudy.gateway.replica;

import com.google.protobuf.ByteString;
import org.jspecify.annotations.Nullable;

/** A node of an {@link EntryTree}. Immutable, as are the arrays behind it once it is constructed. */
sealed interface Node permits Leaf, Branch {

    /** Most entries of a leaf, most children of a branch. */
    int MAX_WIDTH = 32;

    /** A node narrower than this is joined with a neighbour. */
    int MIN_WIDTH = MAX_WIDTH / 4;

    /** Entries in a leaf, children in a branch. */
    int width();

    /** Entries below this node. */
    long count();

    /** Bytes of keys and values below this node. */
    long bytes();

    /** The smallest key. Not for an empty leaf. */
    ByteString first();

    @Nullable Entry get(ByteString key);

    /** This node with the entry put in: one node, or two adjoining ones if it became too wide. */
    Node[] with(Entry entry);

    /** This node without the key; possibly narrow, or empty. The same node if the key isn't there. */
    Node without(ByteString key);

    /** How many keys are smaller than {@code key}. */
    long rank(ByteString key);

    /** Visits entries from {@code from} on, in key order, until the visitor has enough: then false. */
    boolean scan(@Nullable ByteString from, EntryVisitor visitor);

    /** Two adjoining nodes of one height as one, or as two of even width if one would be too wide. */
    static Node[] join(Node left, Node right) {
        if (left instanceof Leaf a && right instanceof Leaf b) {
            return Leaf.split(Slices.concat(a.entries(), b.entries()));
        }
        if (left instanceof Branch a && right instanceof Branch b) {
            return Branch.split(Slices.concat(a.children(), b.children()));
        }
        throw new IllegalArgumentException("two nodes of different heights");
    }
}
