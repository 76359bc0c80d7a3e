package io.understudy.gateway.server;

import com.sun.management.UnixOperatingSystemMXBean;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.impl.transports.EpollTransport;
import io.vertx.core.impl.transports.NioTransport;
import io.vertx.core.impl.transports.TransportInternal;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.transport.Transport;
import java.lang.management.ManagementFactory;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Maximum number of open connections per server, bounded by the process's file limit.
 *
 * <p>Invariant S9: health pages are served while clients hold all connections that are allowed.
 *
 * @param clients per server
 * @param accepted per server, including those that are about to be closed
 */
public record ConnectionLimit(int clients, int accepted) {

    /** Connections beyond the limit, for health pages only and for a second at most. */
    static final int SPARE = 32;

    /** Connections that are accepted and not yet closed. */
    private static final int CLOSING = 64;

    /** Files that are no connections of clients: libraries, logs, connections to the source. */
    private static final int OWN_FILES = 256;

    private static final Logger LOG = LoggerFactory.getLogger(ConnectionLimit.class);

    /** Returns the limit of each of {@code servers} servers; warns if it is below {@code configured}. */
    public static ConnectionLimit of(int configured, int servers) {
        long files = ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
                ? unix.getMaxFileDescriptorCount()
                : Long.MAX_VALUE;
        ConnectionLimit limit = of(configured, servers, files);
        if (limit.clients < configured) {
            LOG.atWarn()
                    .addKeyValue("limit", limit.clients)
                    .addKeyValue("limits.maxConnections", configured)
                    .addKeyValue("openFiles", files)
                    .addKeyValue("needed", servers * ((long) configured + SPARE) + OWN_FILES)
                    .log("connections limited by the open files of the process; raise ulimit -n");
        }
        return limit;
    }

    static ConnectionLimit of(int configured, int servers, long files) {
        int clients = (int) Math.min(configured, Math.max(SPARE, (files - OWN_FILES) / servers - SPARE));
        long accepted = Math.min(
                (long) clients + SPARE + CLOSING / servers,
                Math.max(2 * SPARE, (files - OWN_FILES + CLOSING) / servers));
        return new ConnectionLimit(clients, (int) Math.min(Integer.MAX_VALUE, accepted));
    }

    /** Makes event loops on which a server accepts connections while it has fewer than {@code accepted}. */
    public Vertx vertx(VertxOptions options) {
        return Vertx.builder()
                .with(options)
                .withTransport(AcceptLimit.transport(accepted))
                .build();
    }

    /**
     * Pauses accepting at a server's limit of open connections. Event loops close excess connections only after they are
     * accepted: a burst would use all descriptors, after which Netty pauses for a second.
     */
    static final class AcceptLimit extends ChannelInboundHandlerAdapter {

        private final int most;
        /** Confined to the accepting thread. */
        private int open;

        AcceptLimit(int most) {
            this.most = most;
        }

        @Override
        public void channelRead(ChannelHandlerContext ctx, Object accepted) {
            ((Channel) accepted).closeFuture().addListener(closed -> ctx.executor()
                    .execute(() -> {
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
}
