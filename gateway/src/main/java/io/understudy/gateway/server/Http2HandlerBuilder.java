package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.AbstractHttp2ConnectionHandlerBuilder;
import io.netty.handler.codec.http2.DefaultHttp2Connection;
import io.netty.handler.codec.http2.DefaultHttp2ConnectionDecoder;
import io.netty.handler.codec.http2.DefaultHttp2FrameReader;
import io.netty.handler.codec.http2.DefaultHttp2HeadersDecoder;
import io.netty.handler.codec.http2.DefaultHttp2RemoteFlowController;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2ConnectionDecoder;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2Exception;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersDecoder;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import io.netty.handler.codec.http2.UniformStreamByteDistributor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Builds the handlers of an HTTP/2 connection. */
final class Http2HandlerBuilder extends AbstractHttp2ConnectionHandlerBuilder<Http2Handler, Http2HandlerBuilder> {

    /** Bound of promised streams. Unused, but Netty requires one. */
    private static final int RESERVED_STREAMS = 100;

    private final ClientConnection client;
    private final Requests requests;
    private final ServerLimits limits;

    private Http2HandlerBuilder(ClientConnection client, Requests requests, ServerLimits limits) {
        this.client = client;
        this.requests = requests;
        this.limits = limits;
    }

    static Http2Handler build(ClientConnection client, Requests requests, ServerLimits limits) {
        return new Http2HandlerBuilder(client, requests, limits).build();
    }

    @Override
    protected Http2Handler build() {
        DefaultHttp2Connection connection = new DefaultHttp2Connection(true, RESERVED_STREAMS);
        // By default streams take turns after each KiB, in frames as small: large answers would cost three times as
        // much.
        UniformStreamByteDistributor turns = new UniformStreamByteDistributor(connection);
        turns.minAllocationChunk(Exchange.PIECE_BYTES);
        connection.remote().flowController(new DefaultHttp2RemoteFlowController(connection, turns));
        connection(connection);
        initialSettings(limits.http2());
        headerSensitivityDetector((name, value) -> GrpcHeaders.isSensitive(name));
        encoderEnforceMaxRstFramesPerWindow(limits.maxResets(), ServerLimits.RESET_WINDOW_SECONDS);
        return super.build();
    }

    /** Combines a custom header decoder with Netty's limits of the encoder's queues. */
    @Override
    protected Http2Handler build(
            Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings initialSettings) {
        RepeatedHeaders headers = new RepeatedHeaders(new DefaultHttp2HeadersDecoder(true, limits.maxHeaderBytes()));
        return new Around(
                        new DefaultHttp2ConnectionDecoder(
                                encoder.connection(), encoder, new DefaultHttp2FrameReader(headers)),
                        encoder,
                        initialSettings)
                .build();
    }

    /**
     * The same connection with another decoder, to which Netty adds its limits of received frames. Limits of sent
     * frames and settings of both directions are set outside.
     */
    private final class Around extends AbstractHttp2ConnectionHandlerBuilder<Http2Handler, Around> {

        Around(Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
            initialSettings(settings);
            decoderEnforceMaxRstFramesPerWindow(limits.maxResets(), ServerLimits.RESET_WINDOW_SECONDS);
            codec(decoder, encoder);
        }

        @Override
        protected Http2Handler build() {
            return super.build();
        }

        @Override
        protected Http2Handler build(
                Http2ConnectionDecoder decoder, Http2ConnectionEncoder encoder, Http2Settings settings) {
            Http2Handler handler = new Http2Handler(decoder, encoder, settings, client, limits);
            frameListener(new Http2Frames(handler, requests));
            return handler;
        }
    }

    /**
     * Decodes a connection's header blocks, and repeated ones only once. A client with its headers in the dynamic table
     * sends the same few bytes each time, which mean the same until the table changes (RFC 7541, 2.3). So requests share
     * headers, which must not be changed. Netty only sets {@code content-length} to the same number.
     *
     * <p>Only the last block is cached, from its second time on: most idle connections never repeat one.
     */
    static final class RepeatedHeaders implements Http2HeadersDecoder {

        /** A longer one is decoded each time. */
        private static final int MAX_BLOCK_BYTES = 512;

        /** Maximum number of fields in a cached block: a field may be one byte. */
        private static final int MAX_FIELDS = 64;

        /** The least first byte of a field in the table. */
        private static final int INDEXED = 0x80;
        /** The least first byte, below {@link #INDEXED}, of a change of the table. */
        private static final int CHANGES_TABLE = 0x20;
        /** The bits of a literal's first byte with its name's index in the table. None if the name follows. */
        private static final int LITERAL_NAME = 0x0f;

        private static final int TEXT_LENGTH = 0x7f;

        private final DefaultHttp2HeadersDecoder decoder;
        private int lastHash;
        private ByteBuf block = Unpooled.EMPTY_BUFFER;
        private @Nullable Http2Headers meaning;

        RepeatedHeaders(DefaultHttp2HeadersDecoder decoder) {
            this.decoder = decoder;
        }

        @Override
        public Http2Headers decodeHeaders(int streamId, ByteBuf encoded) throws Http2Exception {
            Http2Headers known = meaning;
            if (known != null && ByteBufUtil.equals(block, encoded)) {
                encoded.skipBytes(encoded.readableBytes());
                return known;
            }
            if (encoded.readableBytes() > MAX_BLOCK_BYTES || !leavesTable(encoded)) {
                forget();
                return decoder.decodeHeaders(streamId, encoded);
            }
            int begin = encoded.readerIndex();
            int end = encoded.writerIndex();
            int hash = ByteBufUtil.hashCode(encoded);
            Http2Headers headers = decoder.decodeHeaders(streamId, encoded);
            if (hash == lastHash && headers.size() <= MAX_FIELDS) {
                block = Unpooled.wrappedBuffer(ByteBufUtil.getBytes(encoded, begin, end - begin));
                meaning = headers;
            }
            lastHash = hash;
            return headers;
        }

        private void forget() {
            lastHash = 0;
            block = Unpooled.EMPTY_BUFFER;
            meaning = null;
        }

        /** Whether a well-formed block does not change the table (RFC 7541, section 6). */
        private static boolean leavesTable(ByteBuf encoded) {
            int at = encoded.readerIndex();
            int end = encoded.writerIndex();
            while (at >= 0 && at < end) {
                int first = encoded.getUnsignedByte(at);
                if (first >= INDEXED) {
                    at = afterNumber(encoded, at, INDEXED - 1);
                } else if (first < CHANGES_TABLE) {
                    boolean nameFollows = (first & LITERAL_NAME) == 0;
                    at = afterNumber(encoded, at, LITERAL_NAME);
                    at = nameFollows ? afterText(encoded, at) : at;
                    at = afterText(encoded, at);
                } else {
                    return false;
                }
            }
            return at == end;
        }

        /** Returns the end of a number that begins in the low bits {@code prefix}. Negative if it is incomplete. */
        private static int afterNumber(ByteBuf encoded, int at, int prefix) {
            int end = encoded.writerIndex();
            int next = at;
            boolean continues = (encoded.getUnsignedByte(next++) & prefix) == prefix;
            while (continues && next < end) {
                continues = encoded.getByte(next++) < 0;
            }
            return continues ? -1 : next;
        }

        /** End of a length-prefixed text; negative if it is incomplete or too long. */
        private static int afterText(ByteBuf encoded, int at) {
            int end = encoded.writerIndex();
            if (at < 0 || at >= end) {
                return -1;
            }
            int length = encoded.getUnsignedByte(at) & TEXT_LENGTH;
            int begin = at + 1;
            if (length == TEXT_LENGTH) {
                int more = begin < end ? encoded.getByte(begin++) : -1;
                if (more < 0) {
                    return -1;
                }
                length += more;
            }
            return length <= end - begin ? begin + length : -1;
        }

        /** Netty's: the server's settings precede all headers and do not change the table. */
        @Override
        public Configuration configuration() {
            return decoder.configuration();
        }
    }

    /** Dispatches received HTTP/2 frames to their exchanges. */
    private static final class Http2Frames extends Http2FrameAdapter {

        private static final Logger LOG = LoggerFactory.getLogger(Http2Frames.class);

        private final Http2Handler handler;
        private final Requests requests;

        Http2Frames(Http2Handler handler, Requests requests) {
            this.handler = handler;
            this.requests = requests;
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext ctx,
                int streamId,
                Http2Headers headers,
                int streamDependency,
                short weight,
                boolean exclusive,
                int padding,
                boolean endStream) {
            onHeadersRead(ctx, streamId, headers, padding, endStream);
        }

        @Override
        public void onHeadersRead(
                ChannelHandlerContext ctx, int streamId, Http2Headers headers, int padding, boolean endStream) {
            Http2Stream stream = handler.connection().stream(streamId);
            Http2Exchange exchange = handler.exchange(stream);
            if (exchange == null) {
                exchange = handler.open(stream, headers);
                try {
                    exchange.reader(requests.begin(exchange));
                } catch (RuntimeException e) {
                    // Ends this stream, not the connection.
                    LOG.atError()
                            .addKeyValue("target", exchange.target())
                            .setCause(e)
                            .log("request failed");
                    exchange.abort();
                    return;
                }
            }
            // Else these are trailers, which are ignored.
            if (endStream) {
                int unused = exchange.read(Unpooled.EMPTY_BUFFER, true);
            }
        }

        @Override
        public void onWindowUpdateRead(ChannelHandlerContext ctx, int streamId, int increment) {
            if (streamId != Http2CodecUtil.CONNECTION_STREAM_ID) {
                handler.windowGrew(handler.exchange(handler.connection().stream(streamId)));
            }
        }

        @Override
        public void onSettingsRead(ChannelHandlerContext ctx, Http2Settings settings) {
            if (settings.headerTableSize() != null) {
                handler.tableChanged();
            }
            if (settings.initialWindowSize() != null) {
                handler.windowsGrew();
            }
        }

        @Override
        public int onDataRead(ChannelHandlerContext ctx, int streamId, ByteBuf data, int padding, boolean endOfStream) {
            Http2Exchange exchange = handler.exchange(handler.connection().stream(streamId));
            return padding + (exchange == null ? data.readableBytes() : exchange.read(data, endOfStream));
        }
    }
}
