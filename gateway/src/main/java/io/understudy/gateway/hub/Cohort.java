package io.understudy.gateway.hub;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Watchers that advance through the commits together; some may be ahead of the cohort. */
final class Cohort {

    private final Map<FilterGroup.WatchFilter, FilterGroup> filterGroups = new HashMap<>();
    private final RangeIndex<FilterGroup> index = new RangeIndex<>();
    private long revision;
    /** The highest revision that a watcher may have received. */
    private long furthest;

    private int size;

    /** @param revision up to which all commits were delivered */
    Cohort(long revision) {
        this.revision = revision;
    }

    /** The revision up to which all commits were delivered to all of them. */
    long revision() {
        return revision;
    }

    void advance(long to) {
        revision = to;
    }

    int size() {
        return size;
    }

    void add(Watcher watcher) {
        FilterGroup.WatchFilter filter = FilterGroup.WatchFilter.of(watcher.spec());
        FilterGroup filterGroup = filterGroups.get(filter);
        if (filterGroup == null) {
            filterGroup = new FilterGroup(this, filter);
            filterGroups.put(filter, filterGroup);
            index.add(filter.range(), filterGroup);
        }
        filterGroup.add(watcher);
        watcher.state(Watcher.State.ACTIVE);
        size++;
    }

    void remove(Watcher watcher) {
        FilterGroup filterGroup = watcher.filterGroup;
        if (filterGroup == null || filterGroup.cohort() != this) {
            throw new IllegalStateException("watcher is not in this cohort");
        }
        filterGroup.remove(watcher);
        watcher.delivered = Math.max(watcher.delivered, revision);
        size--;
        if (filterGroup.size() == 0) {
            filterGroups.remove(filterGroup.filter());
            index.remove(filterGroup.filter().range(), filterGroup);
        }
    }

    /** Whether some watchers may be ahead of the cohort. */
    boolean isUneven() {
        return furthest > revision;
    }

    /** Moves all watchers of another cohort, which is not behind, into this one. */
    void merge(Cohort other) {
        furthest = Math.max(furthest, Math.max(other.revision, other.furthest));
        for (FilterGroup filterGroup : other.filterGroups.values()) {
            for (int i = 0; i < filterGroup.size(); i++) {
                Watcher watcher = filterGroup.get(i);
                watcher.delivered = Math.max(watcher.delivered, other.revision);
                add(watcher);
            }
        }
    }

    /** Returns all watchers, in a copy: any of them may leave at the end of another. */
    List<Watcher> watchers() {
        List<Watcher> all = new ArrayList<>(size);
        for (FilterGroup filterGroup : filterGroups.values()) {
            for (int i = 0; i < filterGroup.size(); i++) {
                all.add(filterGroup.get(i));
            }
        }
        return all;
    }

    /** The filter groups by their ranges. */
    RangeIndex<FilterGroup> index() {
        return index;
    }

    /**
     * Finds the ranges that contain a key, in time logarithmic in the number of ranges. Single keys are in a hash table,
     * others in a tree ordered by their starts, in which each node has the furthest end below it. Several values may have
     * the same range.
     *
     * <p>The tree is a treap: random ranks balance it whatever the ranges and their order are.
     */
    static final class RangeIndex<T> {

        private static final ByteString ZERO_BYTE = ByteString.copyFrom(new byte[] {0});

        private final Map<ByteString, List<T>> singles = new HashMap<>();
        private final SplittableRandom ranks = new SplittableRandom();
        private @Nullable Node<T> root;

        private static final class Node<T> {
            private final KeyRange range;
            private final int rank;
            private final List<T> values = new ArrayList<>(1);
            private @Nullable Node<T> left;
            private @Nullable Node<T> right;
            /** The furthest end of this range and all below; null for no end. */
            private @Nullable ByteString reach;

            Node(KeyRange range, int rank) {
                this.range = range;
                this.rank = rank;
                this.reach = range.to();
            }

            void measure() {
                ByteString furthest = range.to();
                if (left != null) {
                    furthest = further(furthest, left.reach);
                }
                if (right != null) {
                    furthest = further(furthest, right.reach);
                }
                reach = furthest;
            }
        }

        void add(KeyRange range, T value) {
            if (isSingle(range)) {
                singles.computeIfAbsent(range.from(), key -> new ArrayList<>(1)).add(value);
            } else {
                root = add(root, range, value);
            }
        }

        void remove(KeyRange range, T value) {
            if (isSingle(range)) {
                List<T> values = singles.get(range.from());
                if (values != null && values.remove(value) && values.isEmpty()) {
                    singles.remove(range.from());
                }
            } else {
                root = remove(root, range, value);
            }
        }

        /** Passes every value of a range that contains {@code key} to {@code each}, in no particular order. */
        void forEach(ByteString key, Consumer<? super T> each) {
            List<T> exact = singles.isEmpty() ? null : singles.get(key);
            if (exact != null) {
                exact.forEach(each);
            }
            if (root != null) {
                forEach(root, key, each);
            }
        }

        private static <T> void forEach(Node<T> node, ByteString key, Consumer<? super T> each) {
            if (node.reach != null && KeyRange.KEY_ORDER.compare(node.reach, key) <= 0) {
                return;
            }
            if (node.left != null) {
                forEach(node.left, key, each);
            }
            if (KeyRange.KEY_ORDER.compare(node.range.from(), key) <= 0) {
                if (node.range.to() == null || KeyRange.KEY_ORDER.compare(node.range.to(), key) > 0) {
                    node.values.forEach(each);
                }
                if (node.right != null) {
                    forEach(node.right, key, each);
                }
            }
        }

        private Node<T> add(@Nullable Node<T> node, KeyRange range, T value) {
            if (node == null) {
                Node<T> made = new Node<>(range, ranks.nextInt());
                made.values.add(value);
                return made;
            }
            int order = compare(range, node.range);
            if (order == 0) {
                node.values.add(value);
                return node;
            }
            Node<T> top = node;
            if (order < 0) {
                Node<T> below = add(node.left, range, value);
                node.left = below;
                if (below.rank > node.rank) {
                    node.left = below.right;
                    below.right = node;
                    node.measure();
                    top = below;
                }
            } else {
                Node<T> below = add(node.right, range, value);
                node.right = below;
                if (below.rank > node.rank) {
                    node.right = below.left;
                    below.left = node;
                    node.measure();
                    top = below;
                }
            }
            top.measure();
            return top;
        }

        private static <T> @Nullable Node<T> remove(@Nullable Node<T> node, KeyRange range, T value) {
            if (node == null) {
                return null;
            }
            int order = compare(range, node.range);
            if (order < 0) {
                node.left = remove(node.left, range, value);
            } else if (order > 0) {
                node.right = remove(node.right, range, value);
            } else {
                node.values.remove(value);
                if (node.values.isEmpty()) {
                    return joined(node.left, node.right);
                }
            }
            node.measure();
            return node;
        }

        /** All of {@code left} is before all of {@code right}. */
        private static <T> @Nullable Node<T> joined(@Nullable Node<T> left, @Nullable Node<T> right) {
            if (left == null) {
                return right;
            }
            if (right == null) {
                return left;
            }
            Node<T> top;
            if (left.rank > right.rank) {
                left.right = joined(left.right, right);
                top = left;
            } else {
                right.left = joined(left, right.left);
                top = right;
            }
            top.measure();
            return top;
        }

        private static int compare(KeyRange one, KeyRange other) {
            int order = KeyRange.KEY_ORDER.compare(one.from(), other.from());
            if (order != 0) {
                return order;
            }
            if (one.to() == null || other.to() == null) {
                return Boolean.compare(one.to() == null, other.to() == null);
            }
            return KeyRange.KEY_ORDER.compare(one.to(), other.to());
        }

        private static @Nullable ByteString further(@Nullable ByteString one, @Nullable ByteString other) {
            if (one == null || other == null) {
                return null;
            }
            return KeyRange.KEY_ORDER.compare(one, other) >= 0 ? one : other;
        }

        private static boolean isSingle(KeyRange range) {
            ByteString to = range.to();
            return to != null
                    && to.size() == range.from().size() + 1
                    && to.startsWith(range.from())
                    && to.endsWith(ZERO_BYTE);
        }
    }
}
