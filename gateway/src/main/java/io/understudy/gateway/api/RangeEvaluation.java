package io.understudy.gateway.api;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeRequest.SortOrder;
import io.etcd.jetcd.api.RangeRequest.SortTarget;
import io.etcd.jetcd.api.ResponseHeader;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.Entry.EntryFields;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * {@code KV.Range} at one revision: filters, then order, then limit, as etcd does it ({@code etcdserver/apply.go}).
 *
 * <p>Without filters and without a requested order, etcd applies the limit while reading. So a sort target without an
 * order sorts only the first {@code limit + 1} keys, which is reproduced here.
 */
public final class RangeEvaluation {

    private RangeEvaluation() {}

    /**
     * Returns the answer to a {@linkplain RangeRequests#requireValid valid} request.
     *
     * @param at keys at the request's revision, covering its range; the revision in the request is ignored
     * @param header of the answer; its revision is the current one even if the request names an older one
     * @param version of etcd that the answer follows
     */
    public static RangeResult range(RangeRequest request, KeySpace at, ResponseHeader header, EtcdVersion version) {
        EntryFields fields = RangeRequests.fields(request, version);
        if (request.getRangeEnd().isEmpty()) {
            return single(request, at.get(request.getKey()), header, fields);
        }
        KeyRange keys = RangeRequests.keys(request);
        if (keys == null) {
            return new RangeResult(header, Entries.NONE, fields, false, 0);
        }
        long count = at.count(keys);
        long limit = request.getLimit() > 0 ? request.getLimit() : Long.MAX_VALUE;
        if (request.getCountOnly()) {
            return new RangeResult(header, Entries.NONE, fields, false, count);
        }
        if (isHeldInOrder(request)) {
            Entries entries = isInKeyOrder(request) ? at.entries(keys, limit) : at.descending(keys, limit);
            return new RangeResult(header, entries, fields, count > limit, count);
        }
        List<Entry> found = new ArrayList<>();
        for (Entry entry : at.entries(keys, readAtMost(request))) {
            if (passes(request, entry)) {
                found.add(entry);
            }
        }
        if (!isInKeyOrder(request)) {
            EntrySort.sort(found, request.getSortTarget(), request.getSortOrder() == SortOrder.DESCEND);
        }
        boolean more = found.size() > limit;
        // Copied: a view would keep all that were found.
        List<Entry> shown = more ? List.copyOf(found.subList(0, (int) limit)) : found;
        return new RangeResult(header, Entries.measured(shown, fields, at), fields, more, count);
    }

    /**
     * Returns how many entries {@link #range} scans, in logarithmic time: few unless it filters or sorts. Other entries
     * are read when the answer is sent.
     */
    public static long looksAt(RangeRequest request, KeySpace at) {
        KeyRange keys = request.getRangeEnd().isEmpty() || request.getCountOnly() || isHeldInOrder(request)
                ? null
                : RangeRequests.keys(request);
        return keys == null ? 1 : Math.min(at.count(keys), readAtMost(request));
    }

    /** Whether the answer consists of the first keys of the range, in their order. */
    public static boolean isScan(RangeRequest request) {
        return !isFiltered(request) && isInKeyOrder(request);
    }

    private static long readAtMost(RangeRequest request) {
        boolean readsAll = isFiltered(request) || request.getSortOrder() != SortOrder.NONE;
        long limit = request.getLimit();
        return readsAll || limit <= 0 || limit == Long.MAX_VALUE ? Long.MAX_VALUE : limit + 1;
    }

    private static RangeResult single(
            RangeRequest request, @Nullable Entry entry, ResponseHeader header, EntryFields fields) {
        boolean shown = entry != null && !request.getCountOnly() && (!isFiltered(request) || passes(request, entry));
        return new RangeResult(
                header, shown ? Entries.of(List.of(entry)) : Entries.NONE, fields, false, entry == null ? 0 : 1);
    }

    private static boolean isInKeyOrder(RangeRequest request) {
        return request.getSortOrder() == SortOrder.UNRECOGNIZED
                || (request.getSortTarget() == SortTarget.KEY && request.getSortOrder() != SortOrder.DESCEND);
    }

    /** Whether the answer is an unfiltered scan of the key space in either direction. */
    private static boolean isHeldInOrder(RangeRequest request) {
        return !isFiltered(request) && (isInKeyOrder(request) || request.getSortTarget() == SortTarget.KEY);
    }

    static boolean isFiltered(RangeRequest request) {
        return request.getMinModRevision() != 0
                || request.getMaxModRevision() != 0
                || request.getMinCreateRevision() != 0
                || request.getMaxCreateRevision() != 0;
    }

    private static boolean passes(RangeRequest request, Entry entry) {
        return within(entry.modRevision(), request.getMinModRevision(), request.getMaxModRevision())
                && within(entry.createRevision(), request.getMinCreateRevision(), request.getMaxCreateRevision());
    }

    private static boolean within(long revision, long least, long most) {
        return (least == 0 || revision >= least) && (most == 0 || revision <= most);
    }

    /** Puts entries that are in key order into another one, as etcd does. What they are sorted by is looked up once. */
    private static final class EntrySort {

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
}
