package io.understudy.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.understudy.bench.Watchers.WatchedKeys;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/** A gRPC stream with watchers, each with the count of its events. For the client's event loop alone. */
final class CountedWatchStream {

    private static final int GRPC_PREFIX_BYTES = 5;

    private final int watchers;
    private final boolean[] sampled;
    private final Deliveries deliveries;
    private final WatchEventCounter message;
    private long[] eventsByWatcher;
    private int created;
    private ByteBuf rest = Unpooled.EMPTY_BUFFER;

    /**
     * @param watchers how many will be created on it
     * @param sampled whether the latencies of the watcher of an id are kept
     * @param message to read by; shared with other streams
     */
    CountedWatchStream(int watchers, boolean[] sampled, Deliveries deliveries, WatchEventCounter message) {
        this.watchers = watchers;
        this.sampled = sampled.clone();
        this.deliveries = deliveries;
        this.message = message;
        this.eventsByWatcher = new long[watchers];
    }

    /**
     * Takes what came on the stream.
     *
     * @param now when it came
     * @return how many watchers were created by that
     * @throws BenchException a watcher was refused or cancelled, or this is not what a watch answers
     */
    int take(ByteBuf data, long now) {
        int before = created;
        if (rest.isReadable()) {
            ByteBuf joined = Unpooled.wrappedBuffer(rest, data.retain());
            rest = read(joined, now);
            joined.release();
        } else {
            rest = read(data, now);
        }
        return created - before;
    }

    /** @return a copy of what is not a whole message yet */
    private ByteBuf read(ByteBuf data, long now) {
        int at = data.readerIndex();
        int end = data.writerIndex();
        while (end - at >= GRPC_PREFIX_BYTES) {
            int length = data.getInt(at + 1);
            if (end - at - GRPC_PREFIX_BYTES < length) {
                break;
            }
            message.read(data, at + GRPC_PREFIX_BYTES, length);
            deliver(now);
            at += GRPC_PREFIX_BYTES + length;
        }
        return at == end ? Unpooled.EMPTY_BUFFER : Unpooled.copiedBuffer(data.slice(at, end - at));
    }

    private void deliver(long now) {
        int id = watcher();
        if (message.isCanceled()) {
            throw new BenchException("watcher cancelled");
        }
        if (message.isCreated()) {
            created++;
        }
        if (message.events() > 0) {
            eventsByWatcher[id] += message.events();
            deliveries.add(message.events());
            if (sampled[id]) {
                message.numbers(number -> deliveries.sample(number, now));
            }
        }
    }

    private int watcher() {
        long id = message.watchId();
        if (id < 0 || id >= watchers) {
            throw new BenchException("watch id " + id + " on a stream with " + watchers + " watchers");
        }
        return (int) id;
    }

    /** How many of its watchers have got another number of events than that. */
    long watchersWithout(long events) {
        return Arrays.stream(eventsByWatcher).filter(each -> each != events).count();
    }

    /**
     * A WatchResponse, parsed only as far as a benchmark needs: reading events must cost less than sending them.
     *
     * <p>To be used for one message after the other, by one thread.
     */
    static final class WatchEventCounter {

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

    /**
     * Events that reached watchers. Written by the client's event loop alone; the total may be read by anyone, the rest when
     * nothing arrives any more.
     */
    static final class Deliveries {

        private final AtomicLong total = new AtomicLong();
        private long counted;
        private long[] numbers = new long[1 << 16];
        private long[] nanos = new long[1 << 16];
        private int samples;

        /** Counts events. */
        void add(int events) {
            counted += events;
        }

        /** Keeps when the put of that number was delivered to a watcher. */
        void sample(long number, long when) {
            if (samples == numbers.length) {
                numbers = Arrays.copyOf(numbers, samples * 2);
                nanos = Arrays.copyOf(nanos, samples * 2);
            }
            numbers[samples] = number;
            nanos[samples++] = when;
        }

        /** Lets others see the total. */
        void publish() {
            total.lazySet(counted);
        }

        /** How many events have been delivered. */
        long total() {
            return total.get();
        }

        int samples() {
            return samples;
        }

        long number(int sample) {
            return numbers[sample];
        }

        /** By {@link System#nanoTime}. */
        long nanos(int sample) {
            return nanos[sample];
        }
    }
}
