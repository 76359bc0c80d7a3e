package io.understudy.gateway.hub;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The filtered changes of one or more consecutive commits; never a part of one. Shared by all watchers of a loop with
 * the same filter, and encoded on first use. Confined to that loop.
 */
public final class EventBatch {

    private final long revision;
    private final List<WatchEvent> events;
    /** The remainders for watchers that have received the beginning, by their first index. */
    private final Map<Integer, EventBatch> ends = new HashMap<>(0);

    /** The revision of each event; read from the entries on first use. */
    private long @Nullable [] revisions;

    private @Nullable EncodedEvents encoded;

    /**
     * @param revision for the response header: the commit's own, or the log's head for several commits
     * @param events in the order of their revisions, never none
     */
    EventBatch(long revision, List<WatchEvent> events) {
        this.revision = revision;
        this.events = events;
    }

    /** The revision in the response header; not before the last event's. */
    public long revision() {
        return revision;
    }

    /** Events in the order of their revisions, and within a commit in etcd's. Never empty. */
    public List<WatchEvent> events() {
        return events;
    }

    /** Returns the part after that revision; null if there is none. */
    @Nullable EventBatch after(long delivered) {
        int first = firstAfter(delivered);
        if (first == 0 || first == events.size()) {
            return first == 0 ? this : null;
        }
        return ends.computeIfAbsent(first, from -> new EventBatch(revision, events.subList(from, events.size())));
    }

    /** The same without the previous entries of one revision. */
    public EventBatch withoutPrevious(long ofRevision) {
        return new EventBatch(
                revision,
                events.stream()
                        .map(event ->
                                event.entry().modRevision() == ofRevision ? new WatchEvent(event.entry(), null) : event)
                        .toList());
    }

    private int firstAfter(long delivered) {
        if (revisions == null) {
            revisions = events.stream()
                    .mapToLong(event -> event.entry().modRevision())
                    .toArray();
        }
        int low = 0;
        int high = revisions.length;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (revisions[middle] <= delivered) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    /** The events as fields of a {@code WatchResponse}; shared, never to be changed. */
    public EncodedEvents encoded() {
        if (encoded == null) {
            encoded = EncodedEvents.of(events);
        }
        return encoded;
    }

    /**
     * Events in etcd's encoding: field 11 of {@code WatchResponse}, repeated.
     *
     * @param bytes all of them
     * @param ends where in {@code bytes} each event ends
     */
    @SuppressWarnings("ArrayRecordComponent") // Shared and large: what a copy would cost is what this avoids.
    public record EncodedEvents(byte[] bytes, int[] ends) {

        private static final int EVENTS = 11 << 3 | 2;
        private static final int TYPE = 1 << 3;
        private static final int KV = 2 << 3 | 2;
        private static final int PREV_KV = 3 << 3 | 2;
        private static final int DELETE = 1;

        private static EncodedEvents of(List<WatchEvent> events) {
            int[] ends = new int[events.size()];
            int size = 0;
            for (int i = 0; i < ends.length; i++) {
                size = Math.addExact(size, fieldSize(contentSize(events.get(i))));
                ends[i] = size;
            }
            byte[] bytes = new byte[size];
            int at = 0;
            for (WatchEvent event : events) {
                at = writeLength(bytes, at, EVENTS, contentSize(event));
                if (event.isDelete()) {
                    bytes[at++] = TYPE;
                    bytes[at++] = DELETE;
                }
                at = write(bytes, at, KV, event.entry().wire());
                if (event.previous() != null) {
                    at = write(bytes, at, PREV_KV, event.previous().wire());
                }
            }
            return new EncodedEvents(bytes, ends);
        }

        private static int contentSize(WatchEvent event) {
            return (event.isDelete() ? 2 : 0)
                    + fieldSize(event.entry().wireSize())
                    + (event.previous() == null ? 0 : fieldSize(event.previous().wireSize()));
        }

        private static int fieldSize(int content) {
            return Math.addExact(1 + varintSize(content), content);
        }

        private static int write(byte[] out, int at, int tag, byte[] content) {
            int start = writeLength(out, at, tag, content.length);
            System.arraycopy(content, 0, out, start, content.length);
            return start + content.length;
        }

        private static int writeLength(byte[] out, int at, int tag, int length) {
            int next = at;
            out[next++] = (byte) tag;
            int rest = length;
            while ((rest & ~0x7f) != 0) {
                out[next++] = (byte) (rest | 0x80);
                rest >>>= 7;
            }
            out[next++] = (byte) rest;
            return next;
        }

        private static int varintSize(int value) {
            return (31 - Integer.numberOfLeadingZeros(value | 1)) / 7 + 1;
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof EncodedEvents same
                    && Arrays.equals(bytes, same.bytes)
                    && Arrays.equals(ends, same.ends);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(bytes);
        }

        @Override
        public String toString() {
            return ends.length + " events of " + bytes.length + " bytes";
        }
    }
}
