package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.EmptyHttp2Headers;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.util.AsciiString;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Joins small frames of a connection's streams in one buffer, in write order. A frame costs a copy instead of two
 * buffers, two promises and two entries in the socket's queue.
 */
final class JoinedFrames extends ChannelOutboundHandlerAdapter {

    private static final Logger LOG = LoggerFactory.getLogger(JoinedFrames.class);

    private static final int FRAME_HEADER_BYTES = 9;

    /** Maximum size of copied data. */
    static final int SMALL_BYTES = 8 << 10;

    private static final int MIN_BUFFER_BYTES = 1 << 10;
    private static final int MAX_BUFFER_BYTES = 32 << 10;

    private static final short NO_FLAGS = 0;
    private static final short END_OF_STREAM = Http2Flags.END_STREAM;
    private static final short END_OF_HEADERS = Http2Flags.END_HEADERS;

    private @Nullable ChannelHandlerContext context;
    private @Nullable ByteBuf joined;
    /** Bytes joined since the last flush. */
    private int sinceFlush;
    /** Bytes of the last flush, as size of the next buffer. Large ones are not retained. */
    private int usualBytes = MIN_BUFFER_BYTES;
    /** HEADERS and DATA frames written. */
    private long answerFrames;
    /** Exchanges with the end of their answer in the buffer. */
    private List<Http2Exchange> ending = new ArrayList<>();

    /** Returns the number of HEADERS and DATA frames written so far. */
    long answerFrames() {
        return answerFrames;
    }

    /** Writes the frame that begins an answer. */
    void head(int streamId, List<Field> fields) {
        ByteBuf into = room(FRAME_HEADER_BYTES + LiteralHeaders.maxHeadBytes(fields));
        int begin = into.writerIndex();
        header(into, 0, Http2FrameTypes.HEADERS, END_OF_HEADERS, streamId);
        LiteralHeaders.head(into, fields);
        into.setMedium(begin, into.writerIndex() - begin - FRAME_HEADER_BYTES);
    }

    /** Writes the frame that ends a call with OK. Notifies the exchange once the socket has all until here. */
    void end(Http2Exchange exchange) {
        ByteBuf into = room(FRAME_HEADER_BYTES + LiteralHeaders.OK_BYTES);
        header(
                into,
                LiteralHeaders.OK_BYTES,
                Http2FrameTypes.HEADERS,
                (short) (END_OF_HEADERS | END_OF_STREAM),
                exchange.stream().id());
        LiteralHeaders.ok(into);
        ending.add(exchange);
    }

    /** Writes {@code length} bytes of {@code data}, which stays the caller's, as a frame of that stream. */
    void data(int streamId, ByteBuf data, int length) {
        boolean small = length <= SMALL_BYTES;
        ByteBuf into = room(FRAME_HEADER_BYTES + (small ? length : 0));
        header(into, length, Http2FrameTypes.DATA, NO_FLAGS, streamId);
        if (small) {
            into.writeBytes(data, length);
        } else {
            drain();
            ChannelFuture unused = context().write(data.readRetainedSlice(length));
        }
    }

    private void header(ByteBuf into, int length, byte type, short flags, int streamId) {
        answerFrames++;
        into.writeMedium(length);
        into.writeByte(type);
        into.writeByte(flags);
        into.writeInt(streamId);
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
        ending.clear();
    }

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        if (message instanceof ByteBuf frame && isAnswer(frame)) {
            answerFrames++;
        }
        drain();
        ChannelFuture unused = ctx.write(message, promise);
    }

    /** Netty writes the header of a frame as a buffer, or at the start of one. */
    private static boolean isAnswer(ByteBuf frame) {
        if (frame.readableBytes() < FRAME_HEADER_BYTES) {
            return false;
        }
        byte type = frame.getByte(frame.readerIndex() + 3);
        return type == Http2FrameTypes.HEADERS || type == Http2FrameTypes.DATA;
    }

    @Override
    public void flush(ChannelHandlerContext ctx) {
        drain();
        usualBytes = Math.max(MIN_BUFFER_BYTES, sinceFlush);
        sinceFlush = 0;
        ctx.flush();
    }

    private ByteBuf room(int bytes) {
        if (joined != null && joined.writableBytes() < bytes) {
            drain();
        }
        if (joined == null) {
            int usual = Math.min(Math.max(usualBytes, sinceFlush), MAX_BUFFER_BYTES);
            joined = context().alloc().directBuffer(Math.max(bytes, usual));
        }
        return joined;
    }

    private void drain() {
        if (joined != null) {
            ByteBuf full = joined;
            joined = null;
            sinceFlush += full.readableBytes();
            ChannelFuture written = context().write(full);
            if (!ending.isEmpty()) {
                List<Http2Exchange> those = ending;
                ending = new ArrayList<>(those.size());
                written.addListener(done -> those.forEach(each -> went(each, written)));
            }
        }
    }

    /** Catches failures, so that the others are notified. */
    private static void went(Http2Exchange exchange, ChannelFuture written) {
        try {
            exchange.went(written);
        } catch (RuntimeException | Error e) {
            LOG.error("completing a response failed", e);
        }
    }

    private ChannelHandlerContext context() {
        if (context == null) {
            throw new IllegalStateException("not added to a pipeline");
        }
        return context;
    }

    /**
     * Header blocks without the dynamic table (RFC 7541, 6.2.2 and 6.2.3). They are copied, not encoded, and may be mixed
     * with those of Netty's encoder. Constant parts are encoded once.
     */
    static final class LiteralHeaders {

        private static final int MAX_PREFIX_BYTES = 5;

        private static final byte[] HEAD = encoded(GrpcHeaders.head(List.of()));
        private static final byte[] OK = encoded(GrpcHeaders.ok());

        /** Size of the trailers of status OK. */
        static final int OK_BYTES = OK.length;

        private static final Map<AsciiString, byte[]> NAMES =
                Map.of(Reply.REVISION, name(Reply.REVISION), Reply.STALENESS, name(Reply.STALENESS));

        private LiteralHeaders() {}

        /** Returns the maximum size of {@link #head}. */
        static int maxHeadBytes(List<Field> fields) {
            int bytes = HEAD.length;
            for (int i = 0; i < fields.size(); i++) {
                Field field = fields.get(i);
                bytes += 1 + field.name().length() + field.value().length() + 2 * MAX_PREFIX_BYTES;
            }
            return bytes;
        }

        /** Writes the head of an answer. */
        static void head(ByteBuf out, List<Field> fields) {
            out.writeBytes(HEAD);
            for (int i = 0; i < fields.size(); i++) {
                Field field = fields.get(i);
                byte[] name = NAMES.get(field.name());
                out.writeBytes(name == null ? name(field.name()) : name);
                text(out, field.value());
            }
        }

        static void ok(ByteBuf out) {
            out.writeBytes(OK);
        }

        private static void text(ByteBuf out, CharSequence text) {
            integer(out, text.length());
            for (int i = 0; i < text.length(); i++) {
                out.writeByte(text.charAt(i));
            }
        }

        /** RFC 7541, 5.1, with a prefix of seven bits. */
        private static void integer(ByteBuf out, int value) {
            int most = (1 << 7) - 1;
            if (value < most) {
                out.writeByte(value);
                return;
            }
            out.writeByte(most);
            int rest = value - most;
            while (rest >= 1 << 7) {
                out.writeByte((rest & most) | (1 << 7));
                rest >>>= 7;
            }
            out.writeByte(rest);
        }

        /** Encodes a header up to its value. */
        private static byte[] name(AsciiString name) {
            byte[] header = encoded(new DefaultHttp2Headers(false).set(name, AsciiString.EMPTY_STRING));
            byte[] without = new byte[header.length - 1];
            System.arraycopy(header, 0, without, 0, without.length);
            return without;
        }

        private static byte[] encoded(Http2Headers headers) {
            DefaultHttp2HeadersEncoder encoder =
                    new DefaultHttp2HeadersEncoder((name, value) -> GrpcHeaders.isSensitive(name));
            ByteBuf block = Unpooled.buffer();
            try {
                encoder.configuration().maxHeaderTableSize(0);
                // The first block carries the table size.
                encoder.encodeHeaders(1, EmptyHttp2Headers.INSTANCE, block);
                block.clear();
                encoder.encodeHeaders(1, headers, block);
            } catch (Http2Exception e) {
                throw new IllegalStateException("cannot encode headers: " + headers, e);
            }
            byte[] bytes = new byte[block.readableBytes()];
            block.readBytes(bytes);
            return bytes;
        }
    }
}
