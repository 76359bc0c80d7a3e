package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2ConnectionEncoder;
import io.netty.handler.codec.http2.Http2ConnectionHandler;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2HeadersEncoder;
import io.netty.handler.codec.http2.Http2RemoteFlowController;
import io.netty.handler.codec.http2.Http2Stream;
import java.util.List;

/**
 * The frames of whole answers on one connection. Their headers need no table, but Netty encodes the first block after
 * the client has changed the maximum table size, since it must carry the update (RFC 7541, 4.2).
 */
final class AnswerFrames {

    private final Http2ConnectionHandler connection;
    private final Http2ConnectionEncoder encoder;
    private final JoinedFrames joined;
    private boolean tableChanged;
    /** The size of the encoder's header table that the client has received. */
    private long tableSize = Http2CodecUtil.DEFAULT_HEADER_TABLE_SIZE;

    AnswerFrames(Http2ConnectionHandler connection, JoinedFrames joined) {
        this.connection = connection;
        this.encoder = connection.encoder();
        this.joined = joined;
    }

    /** The client has changed the maximum size of its header table. */
    void tableChanged() {
        tableChanged = true;
    }

    /** Writes the first frame of an answer. */
    void head(ChannelHandlerContext ctx, Http2Stream stream, List<Field> fields) {
        if (tableUpdateIsDue()) {
            ChannelFuture unused = writeTableUpdate(ctx, stream, GrpcHeaders.head(fields), false);
        } else {
            joined.head(stream.id(), fields);
        }
        stream.headersSent(false);
    }

    /** Writes the last frame of an answer; notifies the exchange once the socket has it. */
    void end(ChannelHandlerContext ctx, Http2Exchange exchange) {
        // The second call marks trailers.
        exchange.stream().headersSent(false);
        if (tableUpdateIsDue()) {
            ChannelFuture written = writeTableUpdate(ctx, exchange.stream(), GrpcHeaders.ok(), true);
            written.addListener(done -> exchange.went(written));
        } else {
            joined.end(exchange);
        }
    }

    /** Compares the size too: settings may release answers before their own notification. */
    private boolean tableUpdateIsDue() {
        return tableChanged || tableSize != table().maxHeaderTableSize();
    }

    /** Writes headers that update the client's table; a failure ends the connection. */
    private ChannelFuture writeTableUpdate(
            ChannelHandlerContext ctx, Http2Stream stream, Http2Headers headers, boolean end) {
        ChannelFuture written;
        try {
            written = encoder.frameWriter().writeHeaders(ctx, stream.id(), headers, 0, end, ctx.newPromise());
        } catch (RuntimeException | Error e) {
            connection.onError(ctx, true, e);
            throw e;
        }
        Throwable failure = written.cause();
        if (failure != null) {
            connection.onError(ctx, true, failure);
            throw new IllegalStateException("writing headers failed", failure);
        }
        tableChanged = false;
        tableSize = table().maxHeaderTableSize();
        return written;
    }

    private Http2HeadersEncoder.Configuration table() {
        return encoder.configuration().headersConfiguration();
    }

    /** A small response as consecutive frames, once the client's windows have room for it. */
    static final class WholeAnswer implements Http2RemoteFlowController.FlowControlled {

        private final Http2Exchange exchange;
        private final AnswerFrames answers;
        private final JoinedFrames frames;
        private final List<Field> fields;
        private final ByteBuf message;
        private boolean headed;

        /** Owns {@code message}, which fits into a frame. */
        WholeAnswer(
                Http2Exchange exchange,
                AnswerFrames answers,
                JoinedFrames frames,
                List<Field> fields,
                ByteBuf message) {
            this.exchange = exchange;
            this.answers = answers;
            this.frames = frames;
            this.fields = fields;
            this.message = message;
        }

        @Override
        public int size() {
            return message.readableBytes();
        }

        @Override
        public void write(ChannelHandlerContext ctx, int allowedBytes) {
            if (!headed) {
                headed = true;
                answers.head(ctx, exchange.stream(), fields);
            }
            int length = Math.min(allowedBytes, message.readableBytes());
            if (length > 0) {
                frames.data(exchange.stream().id(), message, length);
            }
            if (!message.isReadable()) {
                // Here, since a later failure is not reported.
                answers.end(ctx, exchange);
            }
        }

        @Override
        public void writeComplete() {
            message.release();
        }

        @Override
        public boolean merge(ChannelHandlerContext ctx, Http2RemoteFlowController.FlowControlled next) {
            return false;
        }

        @Override
        public void error(ChannelHandlerContext ctx, Throwable cause) {
            message.release();
            exchange.failed(cause);
        }
    }
}
