package io.understudy.feed.etcd;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.math.BigInteger;
import org.jspecify.annotations.Nullable;

/**
 * Where to end the range of the next page, from how far apart keys were in the last. etcd counts all keys of a requested
 * range, whatever the limit, with its index locked against writes ({@code treeIndex.Revisions}): of an open range each page
 * of a large key space would stall the member for as long as all of them.
 *
 * <p>Only ever a guess: one that is too near gives a short page or none, and the next looks much further; after some such
 * the range stays open until a page is full. Where most guesses are too near, as with groups of keys that are little larger
 * than a page, it stays open for good.
 *
 * @param first the first key of the last full page; null while there was none of two keys
 * @param last the last key of that page
 * @param keys how many it had
 * @param misses how many bounds since then were too near
 * @param credit how many more may be too near than pages are full
 */
record PageBound(@Nullable ByteString first, ByteString last, int keys, int misses, int credit) {

    private static final int FIRST_CREDIT = 4;
    private static final int MAX_CREDIT = 8;

    /** Nothing is known. */
    static final PageBound NONE = new PageBound(null, ByteString.EMPTY, 0, 0, FIRST_CREDIT);

    /** Further than the page should reach, so that it is full all the same where keys are less dense. */
    private static final int SLACK = 4;

    /** How much further a bound is after one that was too near: a place of hexadecimal digits, and more of others. */
    private static final int WIDENING_BITS = 6;

    private static final int MAX_MISSES = 3;

    /** Bytes that distances are measured by. */
    private static final int MEASURED_BYTES = 12;

    /** How many of them the page's first and last key have in common: room to carry over to when these end. */
    private static final int CARRIED_BYTES = 4;

    /** The first key after the range to ask for, null for an open one. */
    @Nullable ByteString of(ByteString from, int wanted) {
        if (first == null || misses > MAX_MISSES || credit == 0) {
            return null;
        }
        int common = Math.max(0, commonPrefix(first, last) - CARRIED_BYTES);
        if (!from.startsWith(first.substring(0, common))) {
            return null;
        }
        BigInteger distance = measured(last, common).subtract(measured(first, common));
        BigInteger reach = distance.multiply(BigInteger.valueOf((long) SLACK * wanted))
                .divide(BigInteger.valueOf(keys))
                .add(BigInteger.ONE)
                .shiftLeft(WIDENING_BITS * misses);
        BigInteger end = measured(from, common).add(reach);
        ByteString prefix = first.substring(0, common);
        if (end.bitLength() > MEASURED_BYTES * Byte.SIZE) {
            return KeyRange.prefix(prefix).to();
        }
        return prefix.concat(bytes(end));
    }

    /** After a page that ended by its limit. */
    PageBound full(ByteString firstKey, ByteString lastKey, int pageKeys) {
        int more = credit == 0 ? 0 : Math.min(MAX_CREDIT, credit + 1);
        // Of one key no distance can be told.
        return new PageBound(firstKey.equals(lastKey) ? null : firstKey, lastKey, pageKeys, 0, more);
    }

    /** After a page that ended by the bound. */
    PageBound tooNear() {
        return new PageBound(first, last, keys, misses + 1, Math.max(0, credit - 1));
    }

    private static int commonPrefix(ByteString one, ByteString other) {
        int most = Math.min(one.size(), other.size());
        int common = 0;
        while (common < most && one.byteAt(common) == other.byteAt(common)) {
            common++;
        }
        return common;
    }

    /** The bytes after the prefix as a number, as though zeros followed the key. */
    private static BigInteger measured(ByteString key, int common) {
        byte[] bytes = new byte[MEASURED_BYTES];
        key.substring(common, Math.min(common + MEASURED_BYTES, key.size())).copyTo(bytes, 0);
        return new BigInteger(1, bytes);
    }

    private static ByteString bytes(BigInteger number) {
        byte[] digits = number.toByteArray();
        byte[] bytes = new byte[MEASURED_BYTES];
        int length = Math.min(MEASURED_BYTES, digits.length);
        System.arraycopy(digits, digits.length - length, bytes, MEASURED_BYTES - length, length);
        return ByteString.copyFrom(bytes);
    }
}
