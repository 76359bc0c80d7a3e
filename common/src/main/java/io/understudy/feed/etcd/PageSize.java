package io.understudy.feed.etcd;

/**
 * How many keys to request in the next page. Starts small, since the values are unknown, and follows the bytes seen.
 *
 * @param keys at least 1
 */
record PageSize(int keys) {

    /** Small enough for the largest values that etcd takes by default (1.5 MiB each). */
    static final PageSize FIRST = new PageSize(16);

    /** Maximum keys of a page; more do not reduce the cost per key. */
    private static final int MAX_KEYS = 10_000;

    /** Maximum growth by one page: large values may follow a page of tiny keys. */
    private static final int MAX_GROWTH = 8;

    PageSize {
        if (keys < 1) {
            throw new IllegalArgumentException("page size must be at least 1 key, is " + keys);
        }
    }

    /** Maximum keys of a page: a quarter more than wanted, since its end is estimated. */
    int most() {
        return keys + keys / 4;
    }

    /** The size after a page of {@code pageKeys} keys had {@code pageBytes} bytes, aiming at {@code targetBytes}. */
    PageSize after(int pageKeys, long pageBytes, long targetBytes) {
        if (pageKeys == 0) {
            return this;
        }
        long perKey = Math.max(1, pageBytes / pageKeys);
        long wanted = Math.min(targetBytes / perKey, (long) keys * MAX_GROWTH);
        return new PageSize((int) Math.max(1, Math.min(MAX_KEYS, wanted)));
    }

    /** The size after an answer was too large to be received. */
    PageSize halved() {
        return new PageSize(Math.max(1, keys / 2));
    }
}
