package io.understudy.gateway.hub;

import io.understudy.gateway.hub.Watcher.WatchEvent;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The filtered changes of one or more consecutive commits; never a part of one. Shared by all watchers of a loop with
 * the same filter, and encoded on first use, or event by event as each client reads. Confined to that loop.
 */
public final class EventBatch {

    private final long revision;
    private final List<WatchEvent> events;
    private final boolean streamed;
    private final UnaryOperator<Runnable> keeping;
    /** The remainders for watchers that have received the beginning, by their first index. */
    private final Map<Integer, EventBatch> remainders = new HashMap<>(0);

    /** The revision of each event; read from the entries on first use. */
    private long @Nullable [] revisions;

    /** Where in the encoding each event ends. */
    private int @Nullable [] ends;

    private byte @Nullable [] encoded;

    /**
     * @param revision for the response header: the commit's own, or the log's head for several commits
     * @param events in the order of their revisions, never none
     * @param streamed see {@link #isStreamed}
     * @param keeping see {@link #keep}
     */
    EventBatch(long revision, List<WatchEvent> events, boolean streamed, UnaryOperator<Runnable> keeping) {
        this.revision = revision;
        this.events = events;
        this.streamed = streamed;
        this.keeping = keeping;
    }

    /**
     * Counts the events as kept by a client that reads slowly.
     *
     * @param end run on any thread if such clients keep too much
     * @return ends the count
     */
    public Runnable keep(Runnable end) {
        return keeping.apply(end);
    }

    /** Whether it is too large to be encoded as a whole: each client's part is encoded as that client reads. */
    public boolean isStreamed() {
        return streamed;
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
        return remainders.computeIfAbsent(
                first, from -> new EventBatch(revision, events.subList(from, events.size()), streamed, keeping));
    }

    /** The same without the previous entries of one revision. */
    public EventBatch withoutPrevious(long ofRevision) {
        return new EventBatch(
                revision,
                events.stream()
                        .map(event ->
                                event.entry().modRevision() == ofRevision ? new WatchEvent(event.entry(), null) : event)
                        .toList(),
                streamed,
                keeping);
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

    /**
     * Where in the encoding each event ends; never to be changed.
     *
     * @throws ArithmeticException if it exceeds 2 GiB
     */
    public int[] ends() {
        if (ends == null) {
            ends = Encoding.ends(events);
        }
        return ends;
    }

    /** The events as fields of a {@code WatchResponse}; shared, never to be changed. Not for a streamed batch. */
    public byte[] encoded() {
        if (streamed) {
            throw new IllegalStateException("batch is encoded event by event");
        }
        if (encoded == null) {
            encoded = Encoding.of(events, ends());
        }
        return encoded;
    }

    /** Returns the encoding of one event in parts, in their order; never to be changed. */
    public List<byte[]> encoded(int index) {
        return Encoding.parts(events.get(index));
    }

    /** Events in etcd's encoding: field 11 of {@code WatchResponse}, repeated. */
    private static final class Encoding {

        private static final int EVENTS = 11 << 3 | 2;
        private static final int TYPE = 1 << 3;
        private static final int KV = 2 << 3 | 2;
        private static final int PREV_KV = 3 << 3 | 2;
        private static final int DELETE = 1;

        private Encoding() {}

        private static int[] ends(List<WatchEvent> events) {
            int[] ends = new int[events.size()];
            int size = 0;
            for (int i = 0; i < ends.length; i++) {
                size = Math.addExact(size, fieldSize(contentSize(events.get(i))));
                ends[i] = size;
            }
            return ends;
        }

        private static byte[] of(List<WatchEvent> events, int[] ends) {
            byte[] bytes = new byte[ends[ends.length - 1]];
            int at = 0;
            for (WatchEvent event : events) {
                at = begin(bytes, at, event);
                at = write(bytes, at, event.entry().wire());
                if (event.previous() != null) {
                    at = writeLength(bytes, at, PREV_KV, event.previous().wireSize());
                    at = write(bytes, at, event.previous().wire());
                }
            }
            return bytes;
        }

        private static List<byte[]> parts(WatchEvent event) {
            byte[] begin = new byte
                    [fieldSize(contentSize(event))
                            - event.entry().wireSize()
                            - (event.previous() == null
                                    ? 0
                                    : fieldSize(event.previous().wireSize()))];
            int unused = begin(begin, 0, event);
            if (event.previous() == null) {
                return List.of(begin, event.entry().wire());
            }
            byte[] previous = new byte[1 + varintSize(event.previous().wireSize())];
            unused = writeLength(previous, 0, PREV_KV, event.previous().wireSize());
            return List.of(
                    begin, event.entry().wire(), previous, event.previous().wire());
        }

        /** Writes what is before the entry. */
        private static int begin(byte[] out, int from, WatchEvent event) {
            int at = writeLength(out, from, EVENTS, contentSize(event));
            if (event.isDelete()) {
                out[at++] = TYPE;
                out[at++] = DELETE;
            }
            return writeLength(out, at, KV, event.entry().wireSize());
        }

        private static int contentSize(WatchEvent event) {
            return (event.isDelete() ? 2 : 0)
                    + fieldSize(event.entry().wireSize())
                    + (event.previous() == null ? 0 : fieldSize(event.previous().wireSize()));
        }

        private static int fieldSize(int content) {
            return Math.addExact(1 + varintSize(content), content);
        }

        private static int write(byte[] out, int at, byte[] content) {
            System.arraycopy(content, 0, out, at, content.length);
            return at + content.length;
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
    }
}
