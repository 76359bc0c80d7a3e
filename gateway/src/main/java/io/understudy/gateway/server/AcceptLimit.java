package io.understudy.gateway.server;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler.Sharable;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.vertx.core.impl.transports.EpollTransport;
import io.vertx.core.impl.transports.NioTransport;
import io.vertx.core.impl.transports.TransportInternal;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.transport.Transport;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Closes connections beyond a limit on the thread that accepts them. Event loops close later: a burst would take all
 * descriptors, after which Netty accepts nothing for a second.
 */
@Sharable
final class AcceptLimit extends ChannelInboundHandlerAdapter {

    private final AtomicInteger open = new AtomicInteger();
    private final int most;

    AcceptLimit(int most) {
        this.most = most;
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object accepted) {
        Channel client = (Channel) accepted;
        if (open.incrementAndGet() > most) {
            open.decrementAndGet();
            client.unsafe().closeForcibly();
            return;
        }
        client.closeFuture().addListener(closed -> open.decrementAndGet());
        ctx.fireChannelRead(accepted);
    }

    /** The native transport of Linux where it is available; every server of it has this limit. */
    Transport transport() {
        Transport epoll = Transport.EPOLL;
        if (epoll != null && epoll.available()) {
            return new TransportInternal("epoll", true, null, new EpollTransport() {
                @Override
                public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
                    super.configure(options, domainSocket, bootstrap);
                    bootstrap.handler(AcceptLimit.this);
                }
            });
        }
        Throwable missing = epoll == null ? null : epoll.unavailabilityCause();
        return new TransportInternal("nio", true, missing, new NioTransport() {
            @Override
            public void configure(NetServerOptions options, boolean domainSocket, ServerBootstrap bootstrap) {
                super.configure(options, domainSocket, bootstrap);
                bootstrap.handler(AcceptLimit.this);
            }
        });
    }
}
