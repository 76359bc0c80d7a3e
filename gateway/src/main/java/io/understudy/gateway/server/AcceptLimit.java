package io.understudy.gateway.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.vertx.core.impl.transports.EpollTransport;
import io.vertx.core.impl.transports.NioTransport;
import io.vertx.core.impl.transports.TransportInternal;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.transport.Transport;

/**
 * Pauses accepting at a server's limit of open connections. Event loops close excess connections only after they are
 * accepted: a burst would use all descriptors, after which Netty pauses for a second.
 */
final class AcceptLimit extends ChannelInboundHandlerAdapter {

    private final int most;
    /** Confined to the accepting thread. */
    private int open;

    AcceptLimit(int most) {
        this.most = most;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object accepted) {
        ((Channel) accepted).closeFuture().addListener(closed -> ctx.executor().execute(() -> {
            open--;
            pauseOrResume(ctx);
        }));
        open++;
        pauseOrResume(ctx);
        ctx.fireChannelRead(accepted);
    }

    private void pauseOrResume(ChannelHandlerContext ctx) {
        ctx.channel().config().setAutoRead(open < most);
    }

    /** Returns the native transport of Linux if available, with this limit for each server. */
    static Transport transport(int most) {
        Transport epoll = Transport.EPOLL;
        if (epoll != null && epoll.available()) {
            return new TransportInternal("epoll", true, null, new EpollTransport() {
                @Override
                public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
                    super.configure(options, domainSocket, bootstrap);
                    bootstrap.handler(new AcceptLimit(most));
                }
            });
        }
        Throwable missing = epoll == null ? null : epoll.unavailabilityCause();
        return new TransportInternal("nio", true, missing, new NioTransport() {
            @Override
            public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
                super.configure(options, domainSocket, bootstrap);
                bootstrap.handler(new AcceptLimit(most));
            }
        });
    }
}
