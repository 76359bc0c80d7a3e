package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.http2.Http2CodecUtil;
import io.netty.handler.codec.http2.Http2FrameAdapter;
import io.netty.handler.codec.http2.Http2Headers;
import io.netty.handler.codec.http2.Http2Settings;
import io.netty.handler.codec.http2.Http2Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Dispatches received HTTP/2 frames to their exchanges. */
final class Http2Frames extends Http2FrameAdapter {

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
