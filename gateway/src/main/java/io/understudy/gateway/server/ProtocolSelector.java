package io.understudy.gateway.server;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpServerCodec;
import io.understudy.gateway.server.Exchange.Stall;
import io.understudy.gateway.server.Loads.LoadMetrics;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import org.jspecify.annotations.Nullable;

/** Detects HTTP/2 with prior knowledge by a connection's first bytes, and installs its handler. */
final class ProtocolSelector extends ByteToMessageDecoder {

    /** No method of HTTP/1.1 begins so. */
    private static final byte[] HTTP2 = "PRI * HTTP/2.0".getBytes(StandardCharsets.US_ASCII);

    private static final int CHUNK_BYTES = 64 << 10;

    private final ClientConnection client;
    private final Requests requests;
    private final ServerLimits limits;
    private final Stall undecided = new Stall();
    private @Nullable ScheduledFuture<?> nextCheck;
    private @Nullable Runnable check;
    private @Nullable Runnable shutDown;
    private boolean shuttingDown;

    ProtocolSelector(ClientConnection client, Requests requests, ServerLimits limits) {
        this.client = client;
        this.requests = requests;
        this.limits = limits;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        checkLater(ctx);
        ctx.channel().closeFuture().addListener(closed -> {
            if (nextCheck != null) {
                nextCheck.cancel(false);
            }
        });
    }

    private void checkLater(ChannelHandlerContext ctx) {
        nextCheck = client.after(limits.stallTimeout().toNanos() / Stall.CHECKS, () -> {
            if (!ctx.channel().isActive()) {
                return;
            }
            checkLater(ctx);
            if (check != null) {
                check.run();
            } else if (undecided.lasts(true, 0)) {
                client.closed(LoadMetrics.Closure.STALL);
                ChannelFuture unused = ctx.close();
            }
        });
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        int compared = Math.min(HTTP2.length, in.readableBytes());
        for (int i = 0; i < compared; i++) {
            if (in.getByte(in.readerIndex() + i) != HTTP2[i]) {
                http1(ctx);
                return;
            }
        }
        if (compared == HTTP2.length && client.isSpare()) {
            ChannelFuture unused = ctx.close();
        } else if (compared == HTTP2.length) {
            http2(ctx);
        }
    }

    private void http1(ChannelHandlerContext ctx) {
        Http1Handler handler = new Http1Handler(client, requests, limits);
        ChannelPipeline pipeline = ctx.pipeline();
        pipeline.addAfter(ctx.name(), "http", handler);
        pipeline.addAfter(
                ctx.name(),
                "codec",
                new HttpServerCodec(new HttpDecoderConfig()
                        .setMaxInitialLineLength(limits.maxHeaderBytes())
                        .setMaxHeaderSize(limits.maxHeaderBytes())
                        .setMaxChunkSize(CHUNK_BYTES)));
        // Before the codec, which does not report incomplete messages.
        pipeline.addAfter(ctx.name(), "received", new ChannelInboundHandlerAdapter() {
            @Override
            public void channelRead(ChannelHandlerContext reading, Object message) {
                handler.received();
                reading.fireChannelRead(message);
            }
        });
        become(ctx, handler::shutDown, handler::check);
    }

    private void http2(ChannelHandlerContext ctx) {
        Http2Handler handler = Http2HandlerBuilder.build(client, requests, limits);
        ctx.pipeline().addAfter(ctx.name(), "http", handler);
        ctx.pipeline().addAfter(ctx.name(), "received", handler.received());
        become(ctx, handler::shutDown, handler::check);
    }

    private void become(ChannelHandlerContext ctx, Runnable closing, Runnable checking) {
        check = checking;
        shutDown = closing;
        ctx.pipeline().remove(this);
        if (shuttingDown) {
            closing.run();
        }
    }

    /** Closes the connection after its requests in flight. */
    void shutDown(ChannelHandlerContext ctx) {
        shuttingDown = true;
        if (shutDown != null) {
            shutDown.run();
        } else {
            ChannelFuture unused = ctx.close();
        }
    }
}
