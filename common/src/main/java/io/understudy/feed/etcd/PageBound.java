package io.understudy.feed.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.understudy.vocabulary.KeyRange;
import java.math.BigInteger;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Estimates where to end the next page's range so that it holds the wanted keys. The estimate uses the distance of keys
 * in an earlier page, so that the following page can be requested while this one is under way. etcd counts all keys of
 * a requested range, whatever the limit, with its index locked against writes ({@code treeIndex.Revisions}): with open
 * ranges, each page of a large key space would stall the member for as long as all of them.
 *
 * <p>A bound that is too far leaves a rest to request. After one that is too near the next goes much further, and after
 * some such the range stays open until a page is full. Where many are too near, as with groups of keys of about a page,
 * they go further than a page should reach, and where most still are, the range stays open for good.
 *
 * @param first the first key of the measured page; null while there was none of two keys
 * @param last the last key of that page
 * @param keys number of its keys
 * @param slack factor by which the page should reach further
 * @param misses number of bounds since then that were too near
 * @param credit how many more may be too near than pages are full
 * @param left estimated keys not requested yet, by the count of the last open range and the pages since
 */
public record PageBound(
        @Nullable ByteString first, ByteString last, int keys, int slack, int misses, int credit, long left) {

    private static final int FIRST_CREDIT = 4;
    private static final int MAX_CREDIT = 8;

    /** Factor that fills the page even where keys are less dense. */
    private static final int WIDE = 4;

    /** The estimate without any page. */
    public static final PageBound NONE = new PageBound(null, ByteString.EMPTY, 0, 1, 0, FIRST_CREDIT, Long.MAX_VALUE);

    /** Minimum fraction (one in so many) of the guessed keys for measuring a page. */
    private static final int ENOUGH = 2;

    /** Bits by which a bound widens after one that was too near. */
    private static final int WIDENING_BITS = 6;

    private static final int MAX_MISSES = 3;

    /** Bytes that distances are measured by. */
    private static final int MEASURED_BYTES = 12;

    /** Room to carry over: measured bytes that the page's first and last key share. */
    private static final int CARRIED_BYTES = 4;

    /**
     * The first key after the range to request, null for an open one.
     *
     * @param most how many keys a page may have
     */
    public @Nullable ByteString of(ByteString from, int wanted, int most) {
        // Near its end an open range costs no more to count, and shows that it ends without another request.
        boolean isNearTheEnd = left <= (long) slack * most;
        if (first == null || misses > MAX_MISSES || credit == 0 || isNearTheEnd) {
            return null;
        }
        int common = Math.max(0, commonPrefix(first, last) - CARRIED_BYTES);
        if (!from.startsWith(first.substring(0, common))) {
            return null;
        }
        Alphabet[] places = places(first, last, common);
        BigInteger distance = measured(last, common, places).subtract(measured(first, common, places));
        BigInteger reach = distance.multiply(BigInteger.valueOf((long) slack * wanted))
                .divide(BigInteger.valueOf(keys))
                .add(BigInteger.ONE)
                .shiftLeft(WIDENING_BITS * misses);
        ByteString prefix = first.substring(0, common);
        ByteString rest = bytes(measured(from, common, places).add(reach), places);
        ByteString end = rest == null ? KeyRange.prefix(prefix).to() : prefix.concat(rest);
        return end == null || KeyRange.KEY_ORDER.compare(end, from) > 0 ? end : null;
    }

    /** Whether a page is likely to end at its bound, so that requesting ahead pays. */
    boolean isNear() {
        return slack == 1 && misses == 0;
    }

    /** The estimate after a request for a page of about so many keys. */
    public PageBound requested(int guessed) {
        return withLeft(left - guessed);
    }

    /**
     * The estimate after a page of a range that ends before all keys do.
     *
     * @param guessed how many it was guessed to hold, 0 if its end was no guess
     * @param isFull whether the range holds more
     */
    public PageBound after(List<KeyValue> page, int guessed, boolean isFull) {
        return withLeft(left + guessed - page.size())
                .after(firstKey(page), lastKey(page), page.size(), guessed, isFull);
    }

    /**
     * The estimate after a part of a range.
     *
     * @param from first key, or where the part begins
     * @param to last key, or where the part ends
     * @param count number of its keys
     * @param guessed how many it was guessed to hold, 0 if its end was no guess
     * @param isFull whether the range holds more
     */
    public PageBound after(ByteString from, ByteString to, int count, int guessed, boolean isFull) {
        if (isFull) {
            return measuredBy(from, to, count, credit == 0 ? 0 : Math.min(MAX_CREDIT, credit + 1));
        }
        if (guessed == 0) {
            return this;
        }
        return slack == 1 && count > guessed / ENOUGH ? measuredBy(from, to, count, credit) : tooNear();
    }

    /**
     * The estimate after a page of an open range.
     *
     * @param more how many keys follow it by the response
     */
    public PageBound afterOpen(List<KeyValue> page, long more) {
        return after(firstKey(page), lastKey(page), page.size(), 0, more > 0).withLeft(more);
    }

    private PageBound tooNear() {
        return credit == 1 && slack == 1
                ? new PageBound(first, last, keys, WIDE, misses, FIRST_CREDIT, left)
                : new PageBound(first, last, keys, slack, misses + 1, Math.max(0, credit - 1), left);
    }

    private PageBound measuredBy(ByteString from, ByteString to, int count, int newCredit) {
        // One key gives no distance.
        return new PageBound(from.equals(to) ? null : from, to, count, slack, 0, newCredit, left);
    }

    private static ByteString firstKey(List<KeyValue> page) {
        return page.isEmpty() ? ByteString.EMPTY : page.get(0).getKey();
    }

    private static ByteString lastKey(List<KeyValue> page) {
        return page.isEmpty() ? ByteString.EMPTY : page.get(page.size() - 1).getKey();
    }

    private PageBound withLeft(long keysLeft) {
        return new PageBound(first, last, keys, slack, misses, credit, keysLeft);
    }

    private static int commonPrefix(ByteString one, ByteString other) {
        int most = Math.min(one.size(), other.size());
        int common = 0;
        while (common < most && one.byteAt(common) == other.byteAt(common)) {
            common++;
        }
        return common;
    }

    /** The alphabets of the bytes after the prefix, by the page's first and last key. */
    private static Alphabet[] places(ByteString first, ByteString last, int common) {
        Alphabet[] places = new Alphabet[MEASURED_BYTES];
        for (int i = 0; i < places.length; i++) {
            places[i] = Alphabet.of(at(first, common + i), at(last, common + i));
        }
        return places;
    }

    /** The byte at the index, zero after the key's end. */
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

    /**
     * The digits at a place of a key, by which keys are counted. After {@code 9} comes not {@code :} where numbers are
     * decimal, but a carry.
     */
    private enum Alphabet {
        DECIMAL("0123456789"),
        HEXADECIMAL("0123456789abcdef"),
        ALPHANUMERIC("0123456789abcdefghijklmnopqrstuvwxyz"),
        /** Any byte. */
        BYTES("");

        private static final int ALL_BYTES = 256;

        private final String letters;

        Alphabet(String letters) {
            this.letters = letters;
        }

        /** The smallest that has both, bytes from 0 to 255. */
        static Alphabet of(int one, int other) {
            return Stream.of(DECIMAL, HEXADECIMAL, ALPHANUMERIC)
                    .filter(alphabet -> alphabet.has(one) && alphabet.has(other))
                    .findFirst()
                    .orElse(BYTES);
        }

        private boolean has(int letter) {
            return letters.indexOf(letter) >= 0;
        }

        int radix() {
            return this == BYTES ? ALL_BYTES : letters.length();
        }

        /** Returns the place of a byte, from 0. For others than letters: that of the letter before, or else 0. */
        int digit(int letter) {
            if (this == BYTES) {
                return letter;
            }
            int digit = 0;
            while (digit + 1 < letters.length() && letters.charAt(digit + 1) <= letter) {
                digit++;
            }
            return digit;
        }

        /** The byte at a place. */
        int letter(int digit) {
            return this == BYTES ? digit : letters.charAt(digit);
        }
    }
}
