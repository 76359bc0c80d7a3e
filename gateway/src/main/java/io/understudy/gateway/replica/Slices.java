package io.understudy.gateway.replica;

import java.util.Arrays;

/** Copies of small arrays, changed in one place. */
final class Slices {

    private Slices() {}

    /** Returns {@code array} with the elements in {@code [from, to)} replaced. */
    static <T> T[] replace(T[] array, int from, int to, T[] replacement) {
        T[] result = Arrays.copyOf(array, array.length - (to - from) + replacement.length);
        System.arraycopy(replacement, 0, result, from, replacement.length);
        System.arraycopy(array, to, result, from + replacement.length, array.length - to);
        return result;
    }

    static <T> T[] concat(T[] left, T[] right) {
        return replace(left, left.length, left.length, right);
    }
}
