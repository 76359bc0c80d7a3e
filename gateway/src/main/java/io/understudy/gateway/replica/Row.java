package io.understudy.gateway.replica;

import io.understudy.gateway.replica.Heap.Widths;
import io.understudy.gateway.replica.Node.Branch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Adjoining nodes of one height, to become branches. */
final class Row {

    private static final Node[] NO_NODES = {};
    private static final byte[][] NO_BOUNDS = {};

    private final List<Node> nodes = new ArrayList<>();
    private final List<byte[]> bounds = new ArrayList<>();

    int size() {
        return nodes.size();
    }

    Node node(int index) {
        return nodes.get(index);
    }

    /**
     * Adds the next node.
     *
     * @param bound that none of its keys is before, and all before it are
     */
    void add(Node node, byte[] bound) {
        nodes.add(node);
        bounds.add(bound);
    }

    /** Adds the nodes that replace one with that bound. */
    void addAll(Node[] replacements, byte[] bound) {
        for (int i = 0; i < replacements.length; i++) {
            add(replacements[i], i == 0 ? bound : replacements[i].first());
        }
    }

    void addChildren(Branch branch, int from, int to) {
        for (int i = from; i < to; i++) {
            add(branch.child(i), branch.bound(i));
        }
    }

    /** Joins nodes that are too narrow with a neighbour. */
    void widen(Widths widths) {
        for (int i = 0; i < nodes.size(); i++) {
            if (nodes.size() > 1 && nodes.get(i).width() < widths.least()) {
                int left = Math.max(0, i - 1);
                Node[] joined = Node.join(nodes.get(left), nodes.get(left + 1), widths);
                nodes.set(left, joined[0]);
                if (joined.length == 1) {
                    nodes.remove(left + 1);
                    bounds.remove(left + 1);
                } else {
                    nodes.set(left + 1, joined[1]);
                    bounds.set(left + 1, joined[1].first());
                }
                // A node that is still too narrow is checked again.
                i = joined.length == 1 ? left - 1 : left;
            }
        }
    }

    /** Branches of nearly equal width, as few as there can be. */
    Node[] branches(Widths widths) {
        Node[] children = nodes.toArray(NO_NODES);
        byte[][] limits = bounds.toArray(NO_BOUNDS);
        int parts = widths.parts(children.length);
        Node[] branches = new Node[parts];
        for (int i = 0; i < parts; i++) {
            int begin = Widths.begin(children.length, parts, i);
            int end = Widths.begin(children.length, parts, i + 1);
            branches[i] = new Branch(Arrays.copyOfRange(children, begin, end), Arrays.copyOfRange(limits, begin, end));
        }
        return branches;
    }
}
