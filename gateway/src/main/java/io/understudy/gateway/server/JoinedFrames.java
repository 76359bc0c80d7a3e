package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.Http2FrameTypes;
import org.jspecify.annotations.Nullable;

/**
 * Puts small DATA frames of a connection's many streams into one buffer, in their order among all that is written: a frame
 * costs a copy then, rather than two buffers, two promises and a place in the socket's queue for each.
 */
final class JoinedFrames extends ChannelOutboundHandlerAdapter {

    private static final int FRAME_HEADER_BYTES = 9;

    /** What is larger is not copied. */
    private static final int SMALL_BYTES = 8 << 10;

    private static final int BUFFER_BYTES = 32 << 10;

    private @Nullable ChannelHandlerContext context;
    private @Nullable ByteBuf joined;

    /** Writes {@code length} bytes of {@code data}, which stays the caller's, as a frame of that stream. */
    void data(int streamId, ByteBuf data, int length) {
        boolean small = length <= SMALL_BYTES;
        ByteBuf into = room(FRAME_HEADER_BYTES + (small ? length : 0));
        into.writeMedium(length);
        into.writeByte(Http2FrameTypes.DATA);
        into.writeByte(0);
        into.writeInt(streamId);
        if (small) {
            into.writeBytes(data, length);
        } else {
            drain();
            ChannelFuture unused = context().write(data.readRetainedSlice(length));
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        context = ctx;
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext ctx) {
        if (joined != null) {
            joined.release();
            joined = null;
        }
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        drain();
        ChannelFuture unused = ctx.write(message, promise);
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        drain();
        ctx.flush();
    }

    private ByteBuf room(int bytes) {
        if (joined != null && joined.writableBytes() < bytes) {
            drain();
        }
        if (joined == null) {
            joined = context().alloc().directBuffer(BUFFER_BYTES);
        }
        return joined;
    }

    private void drain() {
        if (joined != null) {
            ByteBuf full = joined;
            joined = null;
            ChannelFuture unused = context().write(full);
        }
    }

    private ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("not in a pipeline yet");
        }
        return context;
    }
}
