package io.understudy.bench;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;

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
}
