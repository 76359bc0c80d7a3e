package io.understudy.gateway.api;

/**
 * Sorts as Go's {@code sort.Sort}, including the order of equal elements. Responses of etcd are sorted with it. It is
 * not stable, and with a limit the order of equal elements decides which keys are returned.
 *
 * <p>The algorithm is pattern-defeating quicksort, with the pivots, limits and shuffling of Go since 1.19.
 */
final class GoSort {

    /** The sorted elements, by index. */
    interface Items {
        boolean isLess(int one, int other);

        void swap(int one, int other);
    }

    private static final int INSERTION_AT_MOST = 12;
    private static final int NINTHER_AT_LEAST = 50;
    private static final int SHIFTING_AT_LEAST = 50;
    private static final int SHIFTING_STEPS = 5;
    private static final int MEDIAN_AT_LEAST = 8;
    /** Comparisons of a pivot choice among nine if all are out of order. */
    private static final int ALL_SWAPPED = 12;

    private final Items items;
    /** Comparisons out of order in the last pivot choice. */
    private int swapped;

    private GoSort(Items items) {
        this.items = items;
    }

    static void sort(int size, Items items) {
        int badChoices = Integer.SIZE - Integer.numberOfLeadingZeros(size);
        new GoSort(items).quick(0, size, badChoices);
    }

    private void quick(int begin, int end, int badChoices) {
        int from = begin;
        int to = end;
        int left = badChoices;
        boolean balanced = true;
        boolean partitioned = true;
        while (to - from > INSERTION_AT_MOST) {
            int length = to - from;
            if (left == 0) {
                heap(from, to);
                return;
            }
            if (!balanced) {
                shuffle(from, to);
                left--;
            }
            int pivot = pivot(from, to);
            boolean ascending = swapped == 0;
            if (swapped == ALL_SWAPPED) {
                reverse(from, to);
                pivot = to - 1 - (pivot - from);
                ascending = true;
            }
            if (balanced && partitioned && ascending && shiftIntoOrder(from, to)) {
                return;
            }
            // The element before this part is not smaller than the pivot: many elements are equal.
            if (from > 0 && !less(from - 1, pivot)) {
                from = skipEquals(from, to, pivot);
                continue;
            }
            long division = partition(from, to, pivot);
            int middle = (int) (division >>> 1);
            partitioned = (division & 1) != 0;
            if (middle - from < to - middle) {
                balanced = middle - from >= length / 8;
                quick(from, middle, left);
                from = middle + 1;
            } else {
                balanced = to - middle >= length / 8;
                quick(middle + 1, to, left);
                to = middle;
            }
        }
        insertion(from, to);
    }

    private void insertion(int from, int to) {
        for (int next = from + 1; next < to; next++) {
            for (int at = next; at > from && less(at, at - 1); at--) {
                swap(at, at - 1);
            }
        }
    }

    private void heap(int from, int to) {
        int size = to - from;
        for (int root = (size - 1) / 2; root >= 0; root--) {
            sift(root, size, from);
        }
        for (int last = size - 1; last >= 0; last--) {
            swap(from, from + last);
            sift(0, last, from);
        }
    }

    private void sift(int start, int size, int from) {
        int root = start;
        int child = 2 * root + 1;
        while (child < size) {
            if (child + 1 < size && less(from + child, from + child + 1)) {
                child++;
            }
            if (!less(from + root, from + child)) {
                return;
            }
            swap(from + root, from + child);
            root = child;
            child = 2 * root + 1;
        }
    }

    /** Partitions around the pivot. Returns twice its final index, plus 1 if nothing was moved. */
    private long partition(int from, int to, int pivot) {
        swap(from, pivot);
        int low = from + 1;
        int high = to - 1;
        boolean already = true;
        while (true) {
            while (low <= high && less(low, from)) {
                low++;
            }
            while (low <= high && !less(high, from)) {
                high--;
            }
            if (low > high) {
                swap(high, from);
                return 2L * high + (already ? 1 : 0);
            }
            swap(low++, high--);
            already = false;
        }
    }

    /** Partitions elements equal to the pivot from greater ones. Returns the index of the first greater one. */
    private int skipEquals(int from, int to, int pivot) {
        swap(from, pivot);
        int low = from + 1;
        int high = to - 1;
        while (true) {
            while (low <= high && !less(from, low)) {
                low++;
            }
            while (low <= high && less(from, high)) {
                high--;
            }
            if (low > high) {
                return low;
            }
            swap(low++, high--);
        }
    }

    /** Tries a few shifts. Returns whether the part is sorted. */
    private boolean shiftIntoOrder(int from, int to) {
        int next = from + 1;
        for (int step = 0; step < SHIFTING_STEPS; step++) {
            while (next < to && !less(next, next - 1)) {
                next++;
            }
            if (next == to) {
                return true;
            }
            if (to - from < SHIFTING_AT_LEAST) {
                return false;
            }
            swap(next, next - 1);
            if (next - from >= 2) {
                for (int at = next - 1; at >= 1 && less(at, at - 1); at--) {
                    swap(at, at - 1);
                }
            }
            if (to - next >= 2) {
                for (int at = next + 1; at < to && less(at, at - 1); at++) {
                    swap(at, at - 1);
                }
            }
        }
        return false;
    }

    /** Breaks patterns that cause bad pivots; deterministic for each length. */
    private void shuffle(int from, int to) {
        int length = to - from;
        long random = length;
        int mask = Integer.MAX_VALUE >>> (Integer.numberOfLeadingZeros(length) - 1);
        int middle = from + length / 4 * 2;
        for (int i = -1; i <= 1; i++) {
            random ^= random << 13;
            random ^= random >>> 7;
            random ^= random << 17;
            int other = (int) random & mask;
            swap(middle + i, from + (other >= length ? other - length : other));
        }
    }

    private int pivot(int from, int to) {
        swapped = 0;
        int quarter = (to - from) / 4;
        int first = from + quarter;
        int second = from + quarter * 2;
        int third = from + quarter * 3;
        if (to - from >= NINTHER_AT_LEAST) {
            first = median(first - 1, first, first + 1);
            second = median(second - 1, second, second + 1);
            third = median(third - 1, third, third + 1);
        }
        return to - from >= MEDIAN_AT_LEAST ? median(first, second, third) : second;
    }

    private int median(int a, int b, int c) {
        int low = a;
        int middle = b;
        if (wrong(low, middle)) {
            low = b;
            middle = a;
        }
        if (wrong(middle, c)) {
            middle = c;
        }
        return wrong(low, middle) ? low : middle;
    }

    private boolean wrong(int first, int second) {
        boolean wrong = less(second, first);
        if (wrong) {
            swapped++;
        }
        return wrong;
    }

    private void reverse(int from, int to) {
        for (int low = from, high = to - 1; low < high; low++, high--) {
            swap(low, high);
        }
    }

    private boolean less(int one, int other) {
        return items.isLess(one, other);
    }

    private void swap(int one, int other) {
        items.swap(one, other);
    }
}
