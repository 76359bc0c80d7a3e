package io.understudy.gateway.server;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.util.ReferenceCountUtil;

/**
 * Lets Vert.x close a connection when it wants to. It writes an empty buffer first and waits until that has left, which
 * is never for a client that doesn't read, or for one that others keep busy. It writes nothing else: all that clients are
 * told comes from the handlers before this one.
 */
final class PromptClose extends ChannelDuplexHandler {

    @Override
    public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
        ReferenceCountUtil.release(message);
        promise.setSuccess();
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        // As long as Vert.x doesn't know, it doesn't wait for the channel to become writable.
    }
}
