package io.understudy.vocabulary;

/** Numbers of things as people write them: one key, and two keys. */
public final class Counted {

    private Counted() {}

    /** A count with its noun, such as {@code 1 key} or {@code 0 keys}. */
    public static String of(long count, String one) {
        return of(count, one, one + "s");
    }

    /** Returns the count with its irregular plural or verb: {@code 1 key differs}, {@code 2 keys differ}. */
    public static String of(long count, String one, String many) {
        return count + " " + (count == 1 ? one : many);
    }
}
