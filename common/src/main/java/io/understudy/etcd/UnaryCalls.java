package io.understudy.etcd;

import static io.netty.handler.codec.http2.Http2CodecUtil.DEFAULT_WINDOW_SIZE;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageCodec;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2FrameWriter;
import io.netty.handler.codec.http2.DefaultHttp2Headers;
import io.netty.handler.codec.http2.DefaultHttp2HeadersEncoder;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2Error;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2Flags;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2FrameReader;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.handler.codec.http2.Http2FrameWriter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.ssl.SslContext;
import io.netty.util.AsciiString;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.etcd.KeptConnections.Answered;
import io.understudy.tls.TlsContext;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Calls of one unary gRPC method with small messages, one at a time per connection. For hundreds of requests a
 * second with thousands of waiting callers: a general channel costs several times as much per call.
 *
 * <p>Follows {@code PROTOCOL-HTTP2.md} of gRPC, and RFC 9113 as far as such a call needs it.
 *
 * <p>Invariant E8: a complete response counts whatever follows it, and never belongs to another call.
 */
record UnaryCalls(TlsContext context, String method) implements KeptConnections.Protocol<byte[]> {

    /** Maximum size of a response. */
    static final int MAX_ANSWER_BYTES = 16 << 10;

    @Override
    public SslContext tls() {
        return context.forGrpc();
    }

    @Override
    public void addTo(Channel channel, Endpoint endpoint) {
        channel.pipeline().addLast(new Calling(headers(endpoint)));
    }

    /** A block without indexing, as its representations state (RFC 7541, 6.2.2). */
    private byte[] headers(Endpoint endpoint) {
        DefaultHttp2HeadersEncoder encoder = new DefaultHttp2HeadersEncoder();
        ByteBuf block = Unpooled.buffer();
        try {
            encoder.configuration().maxHeaderTableSize(0);
            encoder.encodeHeaders(
                    1,
                    new DefaultHttp2Headers()
                            .method("POST")
                            .scheme(endpoint.tls() ? "https" : "http")
                            .path("/" + method)
                            .authority(endpoint.authority())
                            .set("content-type", "application/grpc")
                            .set("te", "trailers"),
                    block);
        } catch (Http2Exception e) {
            throw new IllegalStateException("cannot encode headers", e);
        }
        byte[] bytes = new byte[block.readableBytes()];
        block.readBytes(bytes);
        return bytes;
    }

    /** One connection. */
    private static final class Calling extends ByteToMessageCodec<byte[]> {

        private static final AsciiString OK = AsciiString.cached("200");
        private static final AsciiString STATUS = AsciiString.cached("grpc-status");
        private static final AsciiString MESSAGE = AsciiString.cached("grpc-message");

        private static final int PREFIX_BYTES = 5;

        /** The largest stream ID, after which a connection has no more (RFC 9113, 5.1.1). */
        private static final int LAST_STREAM = Integer.MAX_VALUE;

        /** A window update is sent once so many bytes were consumed. */
        private static final int WINDOW_UPDATE_BYTES = DEFAULT_WINDOW_SIZE / 2;

        /** Delay of acknowledgements until the next request, which spares both sides a wake-up. */
        private static final long FLUSH_MILLIS = 20;

        private final byte[] headers;
        private final Http2FrameReader reader = new DefaultHttp2FrameReader();
        private final Http2FrameWriter writer = new DefaultHttp2FrameWriter();
        private final Frames frames = new Frames();

        /** Flow-control window of the connection. */
        private long window = DEFAULT_WINDOW_SIZE;

        /** Initial flow-control window of a stream. */
        private int streamWindow = DEFAULT_WINDOW_SIZE;

        private boolean begun;
        private int consumedBytes;
        private boolean flushed = true;
        private boolean flushComes;

        private int stream = -1;
        private boolean underWay;
        private boolean headed;
        private boolean lasts = true;
        /** Response message after its prefix. */
        private final ByteBuf received = Unpooled.buffer();

        /** The call's result, until it is completed. */
        private @Nullable CompletableFuture<byte[]> outcome;

        Calling(byte[] headers) {
            super(byte[].class);
            this.headers = headers;
        }

        /** Sends the preface, before anything else, even an acknowledgement (RFC 9113, 3.4). */
        private void begin(ChannelHandlerContext context) {
            if (begun) {
                return;
            }
            begun = true;
            ChannelFuture unused = context.write(Http2CodecUtil.connectionPrefaceBuf());
            unused = writer.writeSettings(context, new Http2Settings().pushEnabled(false), context.newPromise());
        }

        @Override
        protected void encode(ChannelHandlerContext context, byte[] request, ByteBuf out) throws IOException {
            int bytes = PREFIX_BYTES + request.length;
            if (bytes > Math.min(Math.min(window, streamWindow), Http2CodecUtil.DEFAULT_MAX_FRAME_SIZE)) {
                throw new IOException("request of " + bytes + " bytes exceeds the server's flow-control window");
            }
            // Not in channelActive, which is called later than the listeners of the connect.
            begin(context);
            window -= bytes;
            stream += 2;
            lasts &= stream < LAST_STREAM;
            underWay = true;
            headed = false;
            received.clear();
            header(out, headers.length, Http2FrameTypes.HEADERS, Http2Flags.END_HEADERS);
            out.writeBytes(headers);
            header(out, bytes, Http2FrameTypes.DATA, Http2Flags.END_STREAM);
            out.writeByte(0).writeInt(request.length).writeBytes(request);
            // Frames that wait are sent with it.
            flushed = true;
        }

        private void header(ByteBuf out, int length, byte type, short flags) {
            out.writeMedium(length).writeByte(type).writeByte(flags).writeInt(stream);
        }

        @Override
        protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) throws Http2Exception {
            begin(context);
            boolean inOrder = false;
            try {
                reader.readFrame(context, in, frames);
                inOrder = true;
            } finally {
                // Whatever follows it.
                if (outcome != null) {
                    out.add(new Answered<>(outcome, lasts && inOrder));
                    outcome = null;
                }
            }
        }

        @Override
        public void channelReadComplete(ChannelHandlerContext context) throws Exception {
            super.channelReadComplete(context);
            if (!flushed && !flushComes) {
                flushComes = true;
                ScheduledFuture<?> unused = context.executor()
                        .schedule(
                                () -> {
                                    flushComes = false;
                                    flushed = true;
                                    context.flush();
                                },
                                FLUSH_MILLIS,
                                TimeUnit.MILLISECONDS);
            }
        }

        @Override
        public void handlerRemoved(ChannelHandlerContext context) throws Exception {
            super.handlerRemoved(context);
            reader.close();
            writer.close();
        }

        private void end(Status status) {
            underWay = false;
            outcome = outcome(status);
        }

        private CompletableFuture<byte[]> outcome(Status status) {
            if (!status.isOk()) {
                return CompletableFuture.failedFuture(status.asRuntimeException());
            }
            boolean whole = received.readableBytes() >= PREFIX_BYTES
                    && received.getByte(0) == 0
                    && received.getInt(1) == received.readableBytes() - PREFIX_BYTES;
            if (!whole) {
                return CompletableFuture.failedFuture(Status.INTERNAL
                        .withDescription("expected exactly one message")
                        .asRuntimeException());
            }
            byte[] message = new byte[received.readableBytes() - PREFIX_BYTES];
            received.skipBytes(PREFIX_BYTES).readBytes(message);
            return CompletableFuture.completedFuture(message);
        }

        /** Frames from the server. */
        private final class Frames extends Http2FrameAdapter {

            @Override
            public void onHeadersRead(
                    ChannelHandlerContext context, int of, Http2Headers fields, int padding, boolean endOfStream)
                    throws Http2Exception {
                requireUnderWay(of);
                if (!headed && !OK.contentEquals(String.valueOf(fields.status()))) {
                    lasts = false;
                    end(Status.UNAVAILABLE.withDescription("HTTP status " + fields.status()));
                    return;
                }
                headed = true;
                if (endOfStream) {
                    end(status(fields));
                }
            }

            @Override
            public void onHeadersRead(
                    ChannelHandlerContext context,
                    int of,
                    Http2Headers fields,
                    int dependency,
                    short weight,
                    boolean exclusive,
                    int padding,
                    boolean endOfStream)
                    throws Http2Exception {
                onHeadersRead(context, of, fields, padding, endOfStream);
            }

            private Status status(Http2Headers trailers) throws Http2Exception {
                CharSequence code = trailers.get(STATUS);
                CharSequence message = trailers.get(MESSAGE);
                try {
                    return Status.fromCodeValue(Integer.parseInt(String.valueOf(code)))
                            .withDescription(message == null ? null : message.toString());
                } catch (NumberFormatException e) {
                    throw broken("grpc-status " + code);
                }
            }

            @Override
            public int onDataRead(ChannelHandlerContext context, int of, ByteBuf data, int padding, boolean endOfStream)
                    throws Http2Exception {
                requireUnderWay(of);
                if (endOfStream || received.readableBytes() + data.readableBytes() > MAX_ANSWER_BYTES) {
                    throw broken("response too large or without trailers");
                }
                int bytes = data.readableBytes() + padding;
                received.writeBytes(data);
                consumedBytes += bytes;
                if (consumedBytes >= WINDOW_UPDATE_BYTES) {
                    ChannelFuture unused = writer.writeWindowUpdate(context, 0, consumedBytes, context.newPromise());
                    consumedBytes = 0;
                    flushed = false;
                }
                return bytes;
            }

            @Override
            public void onRstStreamRead(ChannelHandlerContext context, int of, long errorCode) throws Http2Exception {
                if (of < stream || (of == stream && !underWay)) {
                    // It was answered, and the server wants no more of the request (RFC 9113, 8.1).
                    return;
                }
                requireUnderWay(of);
                lasts = false;
                end(Status.UNAVAILABLE.withDescription("stream reset by the server: " + Http2Error.valueOf(errorCode)));
            }

            @Override
            public void onSettingsRead(ChannelHandlerContext context, Http2Settings settings) {
                Integer initial = settings.initialWindowSize();
                if (initial != null) {
                    streamWindow = initial;
                }
                ChannelFuture unused = writer.writeSettingsAck(context, context.newPromise());
                flushed = false;
            }

            @Override
            public void onPingRead(ChannelHandlerContext context, long data) {
                ChannelFuture unused = writer.writePing(context, true, data, context.newPromise());
                flushed = false;
            }

            @Override
            public void onWindowUpdateRead(ChannelHandlerContext context, int of, int increment) {
                if (of == 0) {
                    window += increment;
                }
            }

            @Override
            public void onGoAwayRead(ChannelHandlerContext context, int lastStream, long errorCode, ByteBuf debug) {
                lasts = false;
                boolean answersNoMore = !underWay || stream > lastStream;
                if (answersNoMore && outcome == null) {
                    ChannelFuture unused = context.close();
                }
            }

            private void requireUnderWay(int of) throws Http2Exception {
                if (!underWay || of != stream) {
                    throw broken("unexpected response");
                }
            }

            private Http2Exception broken(String why) {
                return Http2Exception.connectionError(Http2Error.PROTOCOL_ERROR, why);
            }
        }
    }
}
