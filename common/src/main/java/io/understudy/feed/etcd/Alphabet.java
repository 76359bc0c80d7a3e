package io.understudy.feed.etcd;

import java.util.stream.Stream;

/**
 * What a place of a key is written in, by which keys are counted on from one to another: after {@code 9} comes not
 * {@code :} where numbers are decimal, but the next place's turn.
 */
enum Alphabet {
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

    /** The place of a byte, from 0; of one that is not a letter that of the letter before it, or else 0. */
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
