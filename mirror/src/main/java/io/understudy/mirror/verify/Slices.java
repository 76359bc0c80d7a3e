package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.understudy.feed.etcd.PageBound;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Divides ranges into slices of about so many keys, in key order, pass after pass. Most slices end at a guessed key: etcd
 * counts all keys of a requested range, whatever the limit.
 */
final class Slices {

    private final List<KeyRange> ranges;
    private final int keys;
    private ByteString from = ByteString.EMPTY;
    /** End of the present slice; null for the end of the ranges. */
    private @Nullable ByteString end;

    private PageBound bound = PageBound.NONE;

    /**
     * @param ranges disjoint, in key order
     * @param keys of a slice
     */
    Slices(List<KeyRange> ranges, int keys) {
        this.ranges = ranges;
        this.keys = keys;
    }

    /** Start of the present slice. */
    ByteString from() {
        return from;
    }

    /** End of the present slice; null for the end of the ranges. */
    @Nullable ByteString end() {
        return end;
    }

    /** Returns the ranges of the next slice; the same again until it is {@link #compared}. */
    List<KeyRange> next() {
        end = bound.of(from, keys, keys);
        return within(new KeyRange(from, end));
    }

    /**
     * Proceeds to the next slice.
     *
     * @param count of compared keys
     * @param rest where the comparison stopped; null if at the end of the slice
     * @return where the next slice begins; null if that is the next pass
     */
    @Nullable ByteString compared(long count, @Nullable ByteString rest) {
        ByteString to = rest == null ? end : rest;
        if (to == null || within(KeyRange.fromKey(to)).isEmpty()) {
            from = ByteString.EMPTY;
            bound = PageBound.NONE;
            return null;
        }
        ByteString first = from.isEmpty() ? ranges.get(0).from() : from;
        // No distance can be measured from the start of all keys.
        if (!first.isEmpty()) {
            bound = bound.after(first, to, Math.toIntExact(count), end == null ? 0 : keys, rest != null);
        }
        from = to;
        return to;
    }

    private List<KeyRange> within(KeyRange part) {
        return ranges.stream()
                .filter(part::intersects)
                .map(range -> range.intersection(part))
                .toList();
    }
}
