package io.understudy.gateway.server;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.vertx.core.internal.ContextInternal;

/** Makes a connection's context the current one of Vert.x while the connection's events are worked on. */
final class ContextScope extends ChannelInboundHandlerAdapter {

    private final ContextInternal context;

    ContextScope(ContextInternal context) {
        this.context = context;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) {
        ContextInternal before = context.beginDispatch();
        try {
            ctx.fireChannelRead(message);
        } finally {
            context.endDispatch(before);
        }
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) {
        ContextInternal before = context.beginDispatch();
        try {
            ctx.fireChannelReadComplete();
        } finally {
            context.endDispatch(before);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        ContextInternal before = context.beginDispatch();
        try {
            ctx.fireChannelInactive();
        } finally {
            context.endDispatch(before);
        }
    }
}
