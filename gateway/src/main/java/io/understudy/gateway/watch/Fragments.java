package io.understudy.gateway.watch;

import io.understudy.gateway.hub.EventBatch;

/** Splits responses that are too large, as etcd does ({@code sendFragments} in {@code v3rpc/watch.go}). */
final class Fragments {

    /** {@code WatchResponse.fragment}, set. */
    private static final int MARK_BYTES = 2;

    private Fragments() {}

    /** Whether to split. {@code besides} is the size of a response without events. */
    static boolean needed(EventBatch.EncodedEvents events, long besides, long maxBytes) {
        return events.ends().length >= 2 && besides + events.bytes().length >= maxBytes;
    }

    /** The end, exclusive, of the fragment that begins with event {@code first}: one event at least. */
    static int end(EventBatch.EncodedEvents events, int first, long besides, long maxBytes) {
        int[] ends = events.ends();
        long start = first == 0 ? 0 : ends[first - 1];
        int end = first + 1;
        while (end < ends.length && besides + MARK_BYTES + ends[end] - start < maxBytes) {
            end++;
        }
        return end;
    }
}
