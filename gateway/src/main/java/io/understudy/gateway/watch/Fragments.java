package io.understudy.gateway.watch;

/** Splits responses that are too large, as etcd does ({@code sendFragments} in {@code v3rpc/watch.go}). */
final class Fragments {

    /** {@code WatchResponse.fragment}, set. */
    private static final int MARK_BYTES = 2;

    private Fragments() {}

    /** Whether to split. {@code besides} is the size of a response without events, {@code ends} where each ends. */
    static boolean needed(int[] ends, long besides, long maxBytes) {
        return ends.length >= 2 && besides + ends[ends.length - 1] >= maxBytes;
    }

    /** The end, exclusive, of the fragment that begins with event {@code first}: one event at least. */
    static int end(int[] ends, int first, long besides, long maxBytes) {
        long start = first == 0 ? 0 : ends[first - 1];
        int end = first + 1;
        while (end < ends.length && besides + MARK_BYTES + ends[end] - start < maxBytes) {
            end++;
        }
        return end;
    }
}
