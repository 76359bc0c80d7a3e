package io.understudy.gateway.server;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.DecoderException;
import io.netty.util.ReferenceCountUtil;
import java.io.IOException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The end of what is done for a connection here; Vert.x comes after it.
 *
 * <p>Lets Vert.x close the connection when it wants to. It writes an empty buffer first and waits until that has left, which
 * is never for a client that doesn't read, or for one that others keep busy. It writes nothing else: all that clients are
 * told comes from the handlers before this one.
 */
final class PromptClose extends ChannelDuplexHandler {

    private static final Logger LOG = LoggerFactory.getLogger(PromptClose.class);

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        ReferenceCountUtil.release(message);
        promise.setSuccess();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        // As long as Vert.x doesn't know, it doesn't wait for the channel to become writable.
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof IOException || cause instanceof DecoderException) {
            // What a client does to its connection, or to a handshake, is no event here: Vert.x would log an error.
            LOG.atDebug()
                    .addKeyValue("peer", ctx.channel().remoteAddress())
                    .addKeyValue("cause", cause.toString())
                    .log("connection closed");
            ChannelFuture unused = ctx.close();
        } else {
            ctx.fireExceptionCaught(cause);
        }
    }
}
