package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.util.ReferenceCountUtil;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import java.util.function.LongSupplier;

/**
 * Counts received HTTP/2 frames before they are handled, for abuse that Netty permits. That is blocks of headers in
 * many pieces, each of which copies those before it; control frames; and frames that never end.
 */
final class ReceivedFrames extends ChannelInboundHandlerAdapter {

    private static final int FRAME_HEADER_BYTES = 9;

    /** Continuations beyond those of the largest block in full frames. */
    private static final int SPARE_CONTINUATIONS = 16;

    /** Open streams for which a settings frame counts as one more frame. */
    private static final int STREAMS_OF_A_SETTING = 16;

    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(ServerLimits.RESET_WINDOW_SECONDS);

    private final int maxContinuations;
    private final int maxControlFrames;
    private final IntSupplier openStreams;
    private final LongSupplier answerFrames;
    private final Consumer<String> abuse;

    /** Bytes of the preface, or of the frame's payload, that are to come. */
    private int toSkip = Http2CodecUtil.connectionPrefaceBuf().readableBytes();

    private int headerBytes;
    private int length;
    private int type;
    private int flags;
    private boolean inHeaders;
    private int continuations;
    private long controlFrames;
    /** Number of answer frames at the last PING. */
    private long answerFramesAtPing;

    private long windowBegan = System.nanoTime();
    private long completed;
    private boolean abused;

    /**
     * @param openStreams the number of open streams
     * @param answerFrames the number of HEADERS and DATA frames sent so far
     * @param abuse receives once the reason to end the connection; later frames are dropped
     */
    ReceivedFrames(ServerLimits limits, IntSupplier openStreams, LongSupplier answerFrames, Consumer<String> abuse) {
        this.maxContinuations =
                limits.maxHeaderBytes() / Http2CodecUtil.MAX_FRAME_SIZE_LOWER_BOUND + SPARE_CONTINUATIONS;
        this.maxControlFrames = limits.frames().maxControlFrames();
        this.openStreams = openStreams;
        this.answerFrames = answerFrames;
        this.abuse = abuse;
    }

    /** Whether a frame or a block of headers is incomplete. */
    boolean incomplete() {
        return toSkip > 0 || headerBytes > 0 || inHeaders;
    }

    /** Returns the number of complete frames. */
    long completed() {
        return completed;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        if (!abused && message instanceof ByteBuf data) {
            follow(data);
        }
        if (abused) {
            ReferenceCountUtil.release(message);
        } else {
            ctx.fireChannelRead(message);
        }
    }

    private void follow(ByteBuf data) {
        int at = data.readerIndex();
        int end = data.writerIndex();
        while (at < end && !abused) {
            if (toSkip > 0) {
                int skipped = Math.min(toSkip, end - at);
                at += skipped;
                toSkip -= skipped;
            } else if (headerBytes == 0 && end - at >= FRAME_HEADER_BYTES) {
                length = data.getUnsignedMedium(at);
                type = data.getUnsignedByte(at + 3);
                flags = data.getUnsignedByte(at + 4);
                at += FRAME_HEADER_BYTES;
                begun();
            } else {
                header(data.getUnsignedByte(at++));
            }
            if (toSkip == 0 && headerBytes == 0 && !inHeaders) {
                completed++;
            }
        }
    }

    /** Reads one byte of a frame header. */
    private void header(int next) {
        switch (headerBytes++) {
            case 0 -> length = next;
            case 1, 2 -> length = length << 8 | next;
            case 3 -> type = next;
            case 4 -> flags = next;
            case FRAME_HEADER_BYTES - 1 -> {
                headerBytes = 0;
                begun();
            }
            default -> {
                // The stream, which is the same to this.
            }
        }
    }

    private void begun() {
        toSkip = length;
        switch (type) {
            case Http2FrameTypes.DATA, Http2FrameTypes.WINDOW_UPDATE, Http2FrameTypes.RST_STREAM -> {
                // Limited by windows, or counted by Netty.
            }
            case Http2FrameTypes.HEADERS -> {
                inHeaders = !has(END_HEADERS);
                continuations = 0;
            }
            case Http2FrameTypes.CONTINUATION -> {
                inHeaders = !has(END_HEADERS);
                if (++continuations > maxContinuations) {
                    end("headers in more than " + maxContinuations + " frames");
                }
            }
            case Http2FrameTypes.SETTINGS -> control(has(ACK) ? 1 : 1 + openStreams.getAsInt() / STREAMS_OF_A_SETTING);
            case Http2FrameTypes.PING -> ping();
            default -> control(1);
        }
    }

    /**
     * Counts a PING unless an answer was sent since the last one: grpc-go clients estimate the bandwidth by a PING per
     * round trip ({@code bdp_estimator.go}), and etcd does not limit those ({@code http2_server.go}, resetPingStrikes).
     */
    private void ping() {
        long now = answerFrames.getAsLong();
        if (now == answerFramesAtPing) {
            control(1);
        }
        answerFramesAtPing = now;
    }

    private static final int ACK = 1;
    private static final int END_HEADERS = 4;

    private boolean has(int flag) {
        return (flags & flag) != 0;
    }

    private void control(int weight) {
        long now = System.nanoTime();
        if (now - windowBegan > WINDOW_NANOS) {
            windowBegan = now;
            controlFrames = 0;
        }
        controlFrames += weight;
        if (controlFrames > maxControlFrames) {
            end("more than " + maxControlFrames + " control frames (limits.maxControlFrames)");
        }
    }

    private void end(String why) {
        abused = true;
        abuse.accept(why);
    }
}
