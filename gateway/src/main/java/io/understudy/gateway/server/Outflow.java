package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.understudy.gateway.api.AnswerBody;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Data pushed to a stream. The part within the stream's window is written to the connection; the rest is held here,
 * where it does not delay other streams, until the client reads. Bodies are encoded only then.
 */
final class Outflow {

    private final Http2Exchange exchange;
    private final Http2Handler handler;
    private final ArrayDeque<Held> held = new ArrayDeque<>(1);
    private int handedBytes;
    private long heldBytes;
    private boolean drainComes;

    /** Data, or a body. */
    private static final class Held {
        private final @Nullable ByteBuf data;
        private final @Nullable AnswerBody body;
        private boolean begun;

        Held(@Nullable ByteBuf data, @Nullable AnswerBody body) {
            this.data = data;
            this.body = body;
        }
    }

    Outflow(Http2Exchange exchange, Http2Handler handler) {
        this.exchange = exchange;
        this.handler = handler;
    }

    void push(ByteBuf data) {
        if (held.isEmpty() && data.readableBytes() <= room()) {
            hand(data);
            return;
        }
        held.add(new Held(data, null));
        heldBytes += data.readableBytes();
        handler.held(data.readableBytes());
        drain();
    }

    void push(AnswerBody body) {
        held.add(new Held(null, body));
        drain();
    }

    /** Writes held data within the window, and bodies as far as the connection writes their last piece. */
    void drain() {
        boolean moved = false;
        while (!held.isEmpty() && room() > 0) {
            Held next = held.element();
            if (next.data != null) {
                ByteBuf data = next.data;
                long room = room();
                boolean whole = data.readableBytes() <= room;
                if (whole) {
                    held.remove();
                }
                ByteBuf part = whole ? data : data.readRetainedSlice((int) room);
                heldBytes -= part.readableBytes();
                handler.held(-part.readableBytes());
                hand(part);
            } else if (next.body == null || handedBytes >= Exchange.PIECE_BYTES || !encode(next, next.body)) {
                break;
            } else {
                moved = true;
            }
        }
        Held next = held.peek();
        exchange.waitsWith(next == null ? null : next.body, moved);
        if (next == null) {
            exchange.drained();
        }
    }

    /** Writes the next piece of a body; returns false if that fails, which ends the stream. */
    private boolean encode(Held next, AnswerBody body) {
        int wanted = (int) Math.min(Exchange.PIECE_BYTES, room());
        ByteBuf piece = Unpooled.EMPTY_BUFFER;
        boolean more;
        try {
            piece = exchange.allocator().directBuffer(wanted);
            more = body.appendTo(piece, wanted);
        } catch (Throwable e) {
            // Errors too: without memory the client would wait forever.
            piece.release();
            exchange.broken(e);
            return false;
        }
        next.begun = true;
        if (!more) {
            held.remove();
        }
        hand(piece);
        return true;
    }

    private void hand(ByteBuf part) {
        handedBytes += part.readableBytes();
        handler.push(exchange, part);
    }

    /** Returns the room of the window beyond the written data. */
    private long room() {
        return (long) handler.window(exchange.stream()) - handedBytes;
    }

    /** Written bytes were sent or dropped. */
    void went(int bytes) {
        handedBytes -= bytes;
        Held next = held.peek();
        if (next != null && next.body != null && !drainComes) {
            // In another turn, so that other connections are served between two pieces.
            drainComes = true;
            exchange.connection().loop().execute(() -> {
                drainComes = false;
                drain();
            });
        }
    }

    /** Returns the free bytes of the window; 0 while data is held. */
    long freeBytes() {
        return held.isEmpty() ? room() : 0;
    }

    /** Returns the written bytes that are not sent yet. */
    int handedBytes() {
        return handedBytes;
    }

    /** Whether a part of a body was written, and the rest was not. */
    boolean isMidBody() {
        Held next = held.peek();
        return next != null && next.begun;
    }

    /** Removes and returns the data that is held before the first body; what follows is dropped. */
    List<ByteBuf> takeData() {
        List<ByteBuf> taken = new ArrayList<>(held.size());
        for (Held next = held.peek(); next != null && next.data != null; next = held.peek()) {
            taken.add(next.data);
            held.remove();
        }
        drop();
        return taken;
    }

    void drop() {
        for (Held each : held) {
            if (each.data != null) {
                each.data.release();
            }
        }
        held.clear();
        handler.held(-heldBytes);
        heldBytes = 0;
    }

    /** Part of a stream's body that its window has room for. Waits for the connection's window, and for the socket. */
    static final class PushedData implements Http2RemoteFlowController.FlowControlled {

        private final Http2Exchange exchange;
        private final JoinedFrames frames;
        private final int maxFrameBytes;
        private final ArrayDeque<ByteBuf> parts = new ArrayDeque<>(1);
        private int size;

        /** Takes ownership of {@code part}. */
        PushedData(Http2Exchange exchange, JoinedFrames frames, int maxFrameBytes, ByteBuf part) {
            this.exchange = exchange;
            this.frames = frames;
            this.maxFrameBytes = maxFrameBytes;
            add(part);
        }

        private void add(ByteBuf part) {
            parts.add(part);
            size += part.readableBytes();
        }

        @Override
        public int size() {
            return size;
        }

        @Override
        public void write(ChannelHandlerContext ctx, int allowedBytes) {
            int left = Math.min(allowedBytes, size);
            int written = left;
            size -= left;
            try {
                while (left > 0) {
                    ByteBuf part = parts.element();
                    int length = Math.min(Math.min(left, maxFrameBytes), part.readableBytes());
                    frames.data(exchange.stream().id(), part, length);
                    left -= length;
                    if (!part.isReadable()) {
                        parts.remove();
                        part.release();
                    }
                }
            } finally {
                // If it fails the stream ends, and what is left of it is counted there.
                exchange.pushed(written);
            }
        }

        @Override
        public boolean merge(ChannelHandlerContext ctx, Http2RemoteFlowController.FlowControlled next) {
            if (next instanceof PushedData other) {
                other.parts.forEach(this::add);
                other.parts.clear();
                return true;
            }
            return false;
        }

        @Override
        public void writeComplete() {
            // Each part was counted as it went.
        }

        @Override
        public void error(ChannelHandlerContext ctx, Throwable cause) {
            parts.forEach(ByteBuf::release);
            parts.clear();
            exchange.pushed(size);
            size = 0;
            exchange.broken(cause);
        }
    }
}
