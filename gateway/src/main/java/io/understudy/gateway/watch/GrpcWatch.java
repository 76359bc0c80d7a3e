package io.understudy.gateway.watch;

import com.google.protobuf.InvalidProtocolBufferException;
import io.etcd.jetcd.api.WatchRequest;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.SentRequests;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.server.MessageCall;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A call of {@code etcdserverpb.Watch/Watch}. The responses of one hub turn are written as one piece; events are
 * encoded once for all streams, except in large batches.
 *
 * <p>Invariant N2: an unread watch stream stays open, uses bounded memory, blocks no other stream of its connection,
 * and delivers everything once it is read.
 *
 * <p>Invariant V4: etcdctl watch, jetcd and etcd3 for Node watch a gateway as they watch its source, and resume after
 * its restart.
 */
public final class GrpcWatch extends ServerCall.Listener<byte[]> implements WatchOutput {

    /** Case-sensitive as in etcd (api/v3rpc/rpctypes/md.go). */
    private static final Metadata.Key<String> REQUIRES_LEADER =
            Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER);

    private static final String REQUIRES = "true";

    /** Events of more bytes are shared rather than copied. */
    private static final int LARGE_BYTES = 16 << 10;

    /** gRPC's and etcd's message limit of 2 GiB, less some room for the envelope. */
    private static final int MAX_BYTES = Integer.MAX_VALUE - (64 << 10);

    private final MessageCall call;
    private final int bufferBytes;
    private final WatchLoop loop;
    private final WatchStream stream;
    private @Nullable ByteBuf collected;
    /** Whether the collected bytes are one message that all streams share. */
    private boolean collectedShared;

    /** The bytes collected the last time, as initial capacity. */
    private int usualBytes;

    private boolean wantsNext;
    private boolean over;

    private GrpcWatch(Watches watches, MessageCall call, Caller caller, Executor calls, boolean requiresLeader)
            throws ApiException {
        this.call = call;
        this.bufferBytes = watches.settings().bufferBytes();
        this.loop = watches.on(call.eventLoop());
        this.stream = watches.open(this, caller, requiresLeader, call.eventLoop(), calls);
    }

    /**
     * Starts a watch call.
     *
     * @param calls the session's event loop
     */
    public static ServerCall.Listener<byte[]> start(
            Watches watches, MessageCall call, Metadata metadata, Caller caller, Executor calls) {
        Iterable<String> values = metadata.getAll(REQUIRES_LEADER);
        boolean requiresLeader = values != null && values.iterator().next().equals(REQUIRES);
        try {
            GrpcWatch watch = new GrpcWatch(watches, call, caller, calls, requiresLeader);
            call.request(1);
            return watch;
        } catch (ApiException e) {
            call.close(e.code().toStatus().withDescription(e.text()), new Metadata());
            return new ServerCall.Listener<>() {};
        }
    }

    @Override
    public void onMessage(byte[] message) {
        try {
            SentRequests.requireFewFields(WatchRequest.getDescriptor(), message);
            stream.receive(WatchRequest.parseFrom(message), this::next);
        } catch (InvalidProtocolBufferException e) {
            stream.end(new ApiException(Status.Code.INTERNAL, "grpc: error unmarshalling request: " + e.getMessage()));
        }
    }

    /** Requests the next message unless the client leaves its responses unread. */
    private void next() {
        wantsNext = !ready();
        if (!wantsNext) {
            call.request(1);
        }
    }

    @Override
    public void onReady() {
        if (wantsNext) {
            next();
        }
        stream.ready();
    }

    /** Half-closing does not end the watchers. */
    @Override
    public void onHalfClose() {}

    @Override
    public void onCancel() {
        over = true;
        stream.close();
        dropCollected();
    }

    @Override
    public boolean ready() {
        if (collected != null && collected.readableBytes() >= bufferBytes / 2) {
            flush();
        }
        return call.pushable(bufferBytes);
    }

    @Override
    public void control(WatchControl response) {
        if (!isOpen()) {
            return;
        }
        byte[] header = loop.headers().of(response.revision());
        int size = WatchMessage.size(header, response);
        ByteBuf out = begin(size, size);
        WatchMessage.write(out, header, response);
    }

    @Override
    public void message(byte[] response) {
        if (isOpen()) {
            begin(response.length, response.length).writeBytes(response);
        }
    }

    @Override
    public void events(long watchId, EventBatch batch, int first, int end, boolean fragment) {
        if (!isOpen()) {
            return;
        }
        int[] ends = batch.ends();
        int from = first == 0 ? 0 : ends[first - 1];
        int length = ends[end - 1] - from;
        byte[] header = loop.headers().of(batch.revision());
        int besides = WatchMessage.size(header, watchId, fragment);
        long size = (long) besides + length;
        if (size > MAX_BYTES) {
            stream.end(tooLarge(size));
        } else if (batch.isStreamed()) {
            ByteBuf begin = Unpooled.buffer(MessageCall.PREFIX_BYTES + besides);
            MessageCall.prefix(begin, (int) size);
            WatchMessage.write(begin, header, watchId, fragment);
            flush();
            call.push(new StreamedEvents(ByteBufUtil.getBytes(begin), batch, first, end));
        } else if (collected == null && watchId == 0 && first == 0 && end == ends.length && !fragment) {
            collected = loop.messageOf(batch, call.allocator()).retainedDuplicate();
            collectedShared = true;
        } else if (length >= LARGE_BYTES) {
            ByteBuf shared = loop.eventsOf(batch, call.allocator());
            WatchMessage.write(begin((int) size, besides), header, watchId, fragment);
            flush();
            call.push(shared.retainedSlice(from, length));
        } else {
            ByteBuf out = begin((int) size, (int) size);
            WatchMessage.write(out, header, watchId, fragment);
            out.writeBytes(batch.encoded(), from, length);
        }
    }

    private static ApiException tooLarge(long size) {
        return new ApiException(
                Status.Code.RESOURCE_EXHAUSTED,
                "grpc: trying to send message larger than max (" + size + " vs. " + MAX_BYTES + ")");
    }

    @Override
    public void flush() {
        if (collected != null) {
            ByteBuf full = collected;
            boolean shared = collectedShared;
            collected = null;
            collectedShared = false;
            usualBytes = shared ? 0 : Math.min(full.readableBytes(), LARGE_BYTES);
            call.push(shared ? full : fitting(full));
        }
    }

    /** Copies a mostly empty buffer, as an unread one may be retained for long. */
    private ByteBuf fitting(ByteBuf full) {
        if (full.readableBytes() >= full.capacity() / 2) {
            return full;
        }
        ByteBuf own;
        try {
            own = call.allocator().directBuffer(full.readableBytes());
        } catch (OutOfMemoryError e) {
            // Deliver in the larger buffer.
            return full;
        }
        own.writeBytes(full);
        full.release();
        return own;
    }

    @Override
    public void end(ApiException why) {
        try {
            flush();
        } finally {
            over = true;
            call.close(why.code().toStatus().withDescription(why.text()), new Metadata());
        }
    }

    /** Whether the stream is open; flushes collected bytes first, which may find it closed. */
    private boolean isOpen() {
        if (!over && collectedShared && collected != null && collected.readableBytes() >= LARGE_BYTES) {
            flush();
        }
        return !over;
    }

    /**
     * A buffer with the prefix of a message of {@code size} bytes and {@code room} bytes. Allocation fails before a
     * part of a message is written.
     */
    private ByteBuf begin(int size, int room) {
        int bytes = MessageCall.PREFIX_BYTES + room;
        ByteBuf out = collected;
        if (out == null) {
            out = call.allocator().directBuffer(Math.max(bytes, usualBytes));
        } else if (collectedShared) {
            ByteBuf own = call.allocator().directBuffer(Math.max(out.readableBytes() + bytes, usualBytes));
            own.writeBytes(out);
            out.release();
            out = own;
        } else {
            out.ensureWritable(bytes);
        }
        collected = out;
        collectedShared = false;
        MessageCall.prefix(out, size);
        return out;
    }

    private void dropCollected() {
        if (collected != null) {
            collected.release();
            collected = null;
        }
    }

    /** A {@code WatchResponse} in gRPC's framing, with events that are encoded as the client reads. */
    private static final class StreamedEvents implements AnswerBody {

        private final EventBatch batch;
        private final long length;
        private final int end;
        private int next;
        private Iterator<byte[]> parts;
        private byte[] part;
        private int at;

        /**
         * @param begin the message's prefix and all before its events
         * @param first index of the first event
         * @param end of them, exclusive
         */
        StreamedEvents(byte[] begin, EventBatch batch, int first, int end) {
            this.batch = batch;
            this.length = begin.length + (long) batch.ends()[end - 1] - (first == 0 ? 0 : batch.ends()[first - 1]);
            this.next = first;
            this.end = end;
            this.part = begin;
            this.parts = List.<byte[]>of().iterator();
        }

        @Override
        public long length() {
            return length;
        }

        @Override
        public Runnable keep(Runnable end) {
            return batch.keep(end);
        }

        @Override
        public boolean appendTo(ByteBuf out, int wanted) {
            int left = wanted;
            while (left > 0) {
                if (at == part.length) {
                    if (!parts.hasNext()) {
                        if (next == end) {
                            return false;
                        }
                        parts = batch.encoded(next++).iterator();
                    }
                    part = parts.next();
                    at = 0;
                }
                int bytes = Math.min(left, part.length - at);
                out.writeBytes(part, at, bytes);
                at += bytes;
                left -= bytes;
            }
            return at < part.length || parts.hasNext() || next < end;
        }
    }
}
