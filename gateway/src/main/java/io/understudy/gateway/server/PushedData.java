package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import java.util.ArrayDeque;

/** Part of a stream's body that its window has room for. Waits for the connection's window, and for the socket. */
final class PushedData implements Http2RemoteFlowController.FlowControlled {

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
