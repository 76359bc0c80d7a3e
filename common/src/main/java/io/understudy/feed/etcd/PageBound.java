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
 * @param left how many keys there are from the next page on, by what was counted of the last open range
 */
record PageBound(@Nullable ByteString first, ByteString last, int keys, int misses, int credit, long left) {

    private static final int FIRST_CREDIT = 4;
    private static final int MAX_CREDIT = 8;

    /** Nothing is known. */
    static final PageBound NONE = new PageBound(null, ByteString.EMPTY, 0, 0, FIRST_CREDIT, Long.MAX_VALUE);

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
        // Of an open range that is nearly read no more is counted, and whether it ends there needs not be asked again.
        boolean isNearTheEnd = left <= (long) SLACK * wanted;
        if (first == null || misses > MAX_MISSES || credit == 0 || isNearTheEnd) {
            return null;
        }
        int common = Math.max(0, commonPrefix(first, last) - CARRIED_BYTES);
        if (!from.startsWith(first.substring(0, common))) {
            return null;
        }
        Alphabet[] places = places(first, last, common);
        BigInteger distance = measured(last, common, places).subtract(measured(first, common, places));
        BigInteger reach = distance.multiply(BigInteger.valueOf((long) SLACK * wanted))
                .divide(BigInteger.valueOf(keys))
                .add(BigInteger.ONE)
                .shiftLeft(WIDENING_BITS * misses);
        ByteString prefix = first.substring(0, common);
        ByteString rest = bytes(measured(from, common, places).add(reach), places);
        ByteString end = rest == null ? KeyRange.prefix(prefix).to() : prefix.concat(rest);
        return end == null || KeyRange.KEY_ORDER.compare(end, from) > 0 ? end : null;
    }

    /** After a page that ended by its limit. */
    PageBound full(ByteString firstKey, ByteString lastKey, int pageKeys) {
        int more = credit == 0 ? 0 : Math.min(MAX_CREDIT, credit + 1);
        // Of one key no distance can be told.
        return new PageBound(firstKey.equals(lastKey) ? null : firstKey, lastKey, pageKeys, 0, more, left - pageKeys);
    }

    /** After a page that ended by the bound. */
    PageBound tooNear(int pageKeys) {
        return new PageBound(first, last, keys, misses + 1, Math.max(0, credit - 1), left - pageKeys);
    }

    /** After a page of an open range, which is said to hold so many more keys. */
    PageBound counted(long more) {
        return new PageBound(first, last, keys, misses, credit, more);
    }

    private static int commonPrefix(ByteString one, ByteString other) {
        int most = Math.min(one.size(), other.size());
        int common = 0;
        while (common < most && one.byteAt(common) == other.byteAt(common)) {
            common++;
        }
        return common;
    }

    /** What the bytes after the prefix are written in, as far as the page's first and last key tell. */
    private static Alphabet[] places(ByteString first, ByteString last, int common) {
        Alphabet[] places = new Alphabet[MEASURED_BYTES];
        for (int i = 0; i < places.length; i++) {
            places[i] = Alphabet.of(at(first, common + i), at(last, common + i));
        }
        return places;
    }

    /** As though zeros followed the key. */
    private static int at(ByteString key, int index) {
        return index < key.size() ? Byte.toUnsignedInt(key.byteAt(index)) : 0;
    }

    /** The bytes after the prefix as a number. */
    private static BigInteger measured(ByteString key, int common, Alphabet[] places) {
        BigInteger number = BigInteger.ZERO;
        for (int i = 0; i < places.length; i++) {
            number = number.multiply(BigInteger.valueOf(places[i].radix()))
                    .add(BigInteger.valueOf(places[i].digit(at(key, common + i))));
        }
        return number;
    }

    /** Null if it has more places. */
    private static @Nullable ByteString bytes(BigInteger number, Alphabet[] places) {
        byte[] bytes = new byte[places.length];
        BigInteger left = number;
        for (int i = places.length - 1; i >= 0; i--) {
            BigInteger[] parts = left.divideAndRemainder(BigInteger.valueOf(places[i].radix()));
            left = parts[0];
            bytes[i] = (byte) places[i].letter(parts[1].intValue());
        }
        return left.signum() == 0 ? ByteString.copyFrom(bytes) : null;
    }
}
