package io.understudy.bench;

import io.netty.buffer.ByteBuf;
import java.util.function.LongConsumer;

/**
 * A WatchResponse, parsed only as far as a benchmark needs: reading events must cost less than sending them.
 *
 * <p>To be used for one message after the other, by one thread.
 */
final class WatchEventCounter {

    /** Field number and wire type of etcd's protobuf messages. */
    private static final int WATCH_ID = 2 << 3;

    private static final int CREATED = 3 << 3;
    private static final int CANCELED = 4 << 3;
    private static final int EVENTS = 11 << 3 | 2;
    private static final int EVENT_KV = 2 << 3 | 2;
    private static final int KV_VALUE = 5 << 3 | 2;

    private static final int TAG_BITS = 7;
    private static final int TYPE = 7;
    private static final int VARINT = 0;
    private static final int LENGTH_DELIMITED = 2;

    private ByteBuf bytes;
    private int at;
    private int end;

    private long watchId;
    private boolean created;
    private boolean canceled;
    private int events;
    private int firstEvent;

    WatchEventCounter(ByteBuf empty) {
        bytes = empty;
    }

    /**
     * Takes a message.
     *
     * @throws BenchException it is none
     */
    void read(ByteBuf from, int start, int length) {
        bytes = from;
        at = start;
        end = start + length;
        watchId = 0;
        created = false;
        canceled = false;
        events = 0;
        while (at < end) {
            int before = at;
            int tag = (int) varint();
            switch (tag) {
                case WATCH_ID -> watchId = varint();
                case CREATED -> created = varint() != 0;
                case CANCELED -> canceled = varint() != 0;
                case EVENTS -> {
                    firstEvent = events++ == 0 ? before : firstEvent;
                    skip(tag);
                }
                default -> skip(tag);
            }
        }
    }

    long watchId() {
        return watchId;
    }

    boolean isCreated() {
        return created;
    }

    boolean isCanceled() {
        return canceled;
    }

    int events() {
        return events;
    }

    /** Passes on the number of each event's put, as {@link WatchedKeys#put} wrote it, in their order. */
    void numbers(LongConsumer numbers) {
        int messageEnd = end;
        at = firstEvent;
        while (at < messageEnd) {
            end = messageEnd;
            int tag = (int) varint();
            if (tag == EVENTS) {
                int next = (int) varint() + at;
                enter(EVENT_KV, next);
                enter(KV_VALUE, end);
                numbers.accept(bytes.getLong(at));
                at = next;
            } else {
                skip(tag);
            }
        }
        end = messageEnd;
    }

    /** Goes to the beginning of the first such field before {@code limit}, and has its end as the end. */
    private void enter(int field, int limit) {
        while (at < limit) {
            int tag = (int) varint();
            if (tag == field) {
                int length = (int) varint();
                end = at + length;
                return;
            }
            skip(tag);
        }
        throw new BenchException("event without value");
    }

    private void skip(int tag) {
        switch (tag & TYPE) {
            case VARINT -> varint();
            case LENGTH_DELIMITED -> {
                int length = (int) varint();
                at += length;
            }
            default -> throw new BenchException("invalid watch response: field " + tag);
        }
    }

    private long varint() {
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += TAG_BITS) {
            byte next = bytes.getByte(at++);
            value |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return value;
            }
        }
        throw new BenchException("invalid watch response: malformed varint");
    }
}
