package io.understudy.gateway.api;

import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.understudy.gateway.replica.Entry;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.ToLongFunction;

/** Puts entries that are in key order into another one, as etcd does. What they are sorted by is looked up once. */
final class EntrySort {

    private EntrySort() {}

    static void sort(List<Entry> entries, SortTarget target, boolean descending) {
        switch (target) {
            case KEY -> {
                if (descending) {
                    Collections.reverse(entries);
                }
            }
            case VERSION -> byNumber(entries, Entry::version, descending);
            case CREATE -> byNumber(entries, Entry::createRevision, descending);
            case MOD -> byNumber(entries, Entry::modRevision, descending);
            case VALUE -> byValue(entries, descending);
            case UNRECOGNIZED -> throw new IllegalArgumentException("unknown sort target");
        }
    }

    private static void byNumber(List<Entry> entries, ToLongFunction<Entry> property, boolean descending) {
        Entry[] sorted = entries.toArray(new Entry[0]);
        long[] numbers = new long[sorted.length];
        Arrays.setAll(numbers, i -> property.applyAsLong(sorted[i]));
        GoSort.sort(sorted.length, new GoSort.Items() {
            @Override
            public boolean isLess(int one, int other) {
                return descending ? numbers[other] < numbers[one] : numbers[one] < numbers[other];
            }

            @Override
            public void swap(int one, int other) {
                swapEntries(sorted, one, other);
                swapNumbers(numbers, one, other);
            }
        });
        copy(sorted, entries);
    }

    private static void byValue(List<Entry> entries, boolean descending) {
        Entry[] sorted = entries.toArray(new Entry[0]);
        // Most values differ soon: their first bytes are kept together, so that the rest needn't be fetched.
        long[] firsts = new long[sorted.length];
        Arrays.setAll(firsts, i -> first(sorted[i]));
        GoSort.sort(sorted.length, new GoSort.Items() {
            @Override
            public boolean isLess(int one, int other) {
                return descending ? compare(other, one) < 0 : compare(one, other) < 0;
            }

            private int compare(int one, int other) {
                int difference = Long.compareUnsigned(firsts[one], firsts[other]);
                return difference != 0 ? difference : compareValues(sorted[one], sorted[other]);
            }

            @Override
            public void swap(int one, int other) {
                swapEntries(sorted, one, other);
                swapNumbers(firsts, one, other);
            }
        });
        copy(sorted, entries);
    }

    /** Returns the first eight bytes of the value, as a number of the same order. Missing bytes are zero. */
    private static long first(Entry entry) {
        int end = entry.valueFieldEnd();
        int begin = end - entry.value().size();
        long first = 0;
        for (int i = 0; i < Long.BYTES; i++) {
            first = first << Byte.SIZE | (begin + i < end ? entry.wire()[begin + i] & 0xff : 0);
        }
        return first;
    }

    private static int compareValues(Entry one, Entry other) {
        int oneEnd = one.valueFieldEnd();
        int otherEnd = other.valueFieldEnd();
        return Arrays.compareUnsigned(
                one.wire(),
                oneEnd - one.value().size(),
                oneEnd,
                other.wire(),
                otherEnd - other.value().size(),
                otherEnd);
    }

    private static void swapEntries(Entry[] entries, int one, int other) {
        Entry entry = entries[one];
        entries[one] = entries[other];
        entries[other] = entry;
    }

    private static void swapNumbers(long[] numbers, int one, int other) {
        long number = numbers[one];
        numbers[one] = numbers[other];
        numbers[other] = number;
    }

    private static void copy(Entry[] sorted, List<Entry> entries) {
        for (int i = 0; i < sorted.length; i++) {
            entries.set(i, sorted[i]);
        }
    }
}
