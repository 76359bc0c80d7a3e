package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.mirror.verify.Difference.Kind;
import io.understudy.mirror.verify.Merge.Equality;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The result of a comparison of a part of the keys.
 *
 * @param next start of the next part; null for the last
 * @param keys number of compared keys
 */
record RangeComparison(ConsistentPair pair, @Nullable ByteString next, long keys, List<Found> found) {

    /** Keys and values of both sides are held until they are repaired. */
    private static final long MAX_FOUND_BYTES = 16L << 20;

    private static final ByteString ZERO_BYTE = ByteString.copyFrom(new byte[] {0});

    /** A key that differs, with what either side has of it. */
    record Found(
            Difference difference,
            @Nullable KeyValue source,
            @Nullable KeyValue target) {}

    /** Slows a comparison down. */
    interface Pace {

        /** No limit of the rate. */
        Pace NONE = keys -> {};

        /** Reports the number of compared keys; may pause. */
        void compared(long keys) throws InterruptedException;
    }

    /**
     * Compares the present of both sides.
     *
     * @param ranges disjoint, in key order, as the target calls them
     * @param maxKeys after so many the look ends
     * @param maxFound after so many that differ the look ends, or once they exceed {@value #MAX_FOUND_BYTES} bytes;
     *     {@link Integer#MAX_VALUE} for neither
     */
    static RangeComparison at(ConsistentPair pair, List<KeyRange> ranges, long maxKeys, int maxFound, Pace pace)
            throws CompactedException, IncomparableException, InterruptedException {
        Equality equality = pair.equality();
        List<Found> found = new ArrayList<>();
        long keys = 0;
        long bytes = 0;
        try (SideReader source = pair.source(ranges);
                SideReader target = pair.target(ranges)) {
            Merge merge = new Merge(source, target);
            for (Merge.@Nullable Pair key = merge.next(); key != null; key = merge.next()) {
                Kind kind = equality.difference(key);
                if (kind != null) {
                    ByteString atSource = pair.sides().scope().atSource(key.key());
                    found.add(new Found(new Difference(kind, atSource, key.key()), key.source(), key.target()));
                    bytes += bytes(key.source()) + bytes(key.target());
                }
                pace.compared(++keys);
                boolean isFull = found.size() >= maxFound || (bytes > MAX_FOUND_BYTES && maxFound < Integer.MAX_VALUE);
                if (keys >= maxKeys || isFull) {
                    return new RangeComparison(pair, key.key().concat(ZERO_BYTE), keys, found);
                }
            }
        }
        return new RangeComparison(pair, null, keys, found);
    }

    private static long bytes(@Nullable KeyValue entry) {
        return entry == null ? 0 : entry.bytes();
    }

    /** Compares the differing keys again, in their current state. */
    RangeComparison again() throws CompactedException, IncomparableException, InterruptedException {
        if (found.isEmpty()) {
            return this;
        }
        List<KeyRange> ranges = found.stream()
                .map(each -> KeyRange.single(each.difference().targetKey()))
                .toList();
        return at(ConsistentPair.now(pair.sides()), ranges, Long.MAX_VALUE, Integer.MAX_VALUE, Pace.NONE);
    }
}
