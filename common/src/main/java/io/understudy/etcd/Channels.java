package io.understudy.etcd;

import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.epoll.Epoll;
import io.netty.channel.epoll.EpollIoHandler;
import io.netty.channel.epoll.EpollSocketChannel;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.understudy.tls.TlsContext;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;

/**
 * One gRPC channel, and so one connection, per endpoint. Any thread.
 *
 * <p>Keepalive: etcd cuts off clients that ping more often than every 5 s or without an active call, and gRPC raises the
 * interval to 10 s, so a dead peer is noticed by its connection after {@link #KEEPALIVE} and {@link #KEEPALIVE_TIMEOUT};
 * probes notice sooner.
 */
final class Channels implements AutoCloseable {

    static final Duration KEEPALIVE = Duration.ofSeconds(10);
    static final Duration KEEPALIVE_TIMEOUT = Duration.ofSeconds(3);

    /** Maximum size of a response. There is no limit in etcd, but a snapshot page is far smaller. */
    static final int MAX_INBOUND_BYTES = 64 << 20;

    /**
     * HTTP/2 flow-control window, enough for 100 MB/s over 80 ms. Fixed, since gRPC's estimation of the bandwidth-delay
     * product costs both sides two more messages per response or commit.
     */
    private static final int WINDOW_BYTES = 8 << 20;

    /** Time without a call after which a connection ends, before firewalls on its path forget it. */
    private static final Duration IDLE = Duration.ofMinutes(1);

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final ConcurrentHashMap<Endpoint, ManagedChannel> channels = new ConcurrentHashMap<>();
    private final NetworkThread network;
    private final Duration connectTimeout;
    private final TlsContext tls;
    private volatile boolean closed;

    Channels(NetworkThread network, Duration connectTimeout, TlsContext tls) {
        this.network = network;
        this.connectTimeout = connectTimeout;
        this.tls = tls;
    }

    ManagedChannel get(Endpoint endpoint) {
        ManagedChannel channel = channels.computeIfAbsent(endpoint, this::open);
        if (closed) {
            // A caller that lost the race with close() gets a channel on which every call fails.
            channel.shutdownNow();
        }
        return channel;
    }

    /** Closes the channels of all other endpoints; calls that still run there may finish. */
    void retain(Set<Endpoint> wanted) {
        channels.forEach((endpoint, channel) -> {
            if (!wanted.contains(endpoint) && channels.remove(endpoint, channel)) {
                channel.shutdown();
            }
        });
    }

    /** Reconnects after a failed attempt without gRPC's backoff, which grows to two minutes. */
    void reconnect(Endpoint endpoint) {
        ManagedChannel channel = channels.get(endpoint);
        if (channel != null && channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE) {
            channel.resetConnectBackoff();
        }
    }

    /**
     * A channel on which the next call does not fail for an earlier failure. A channel in backoff would fail it until
     * it has reconnected.
     */
    ManagedChannel getUsable(Endpoint endpoint) {
        ManagedChannel channel = get(endpoint);
        if (channel.getState(false) == ConnectivityState.TRANSIENT_FAILURE && channels.remove(endpoint, channel)) {
            channel.shutdown();
        }
        return get(endpoint);
    }

    private ManagedChannel open(Endpoint endpoint) {
        NettyChannelBuilder builder = NettyChannelBuilder.forAddress(endpoint.host(), endpoint.port());
        if (endpoint.tls()) {
            builder.sslContext(tls.forGrpc());
        } else {
            builder.usePlaintext();
        }
        return builder.eventLoopGroup(network.group())
                .channelType(network.socket())
                .maxInboundMessageSize(MAX_INBOUND_BYTES)
                .flowControlWindow(WINDOW_BYTES)
                .keepAliveTime(KEEPALIVE.toMillis(), TimeUnit.MILLISECONDS)
                .keepAliveTimeout(KEEPALIVE_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)
                .idleTimeout(IDLE.toMillis(), TimeUnit.MILLISECONDS)
                .withOption(ChannelOption.CONNECT_TIMEOUT_MILLIS, Math.toIntExact(connectTimeout.toMillis()))
                .build();
    }

    /** Cancels every call and waits a few seconds for the connections to end. */
    @Override
    public void close() {
        closed = true;
        channels.values().forEach(ManagedChannel::shutdownNow);
        long deadline = System.nanoTime() + CLOSE_TIMEOUT.toNanos();
        try {
            for (ManagedChannel channel : channels.values()) {
                if (!channel.awaitTermination(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /**
     * The one thread of a cluster's connections and of their timers. A request that follows a response is sent at once,
     * without another thread to wake. Nothing on it may block.
     *
     * @param group has this thread alone
     * @param socket the kind of connection that the group can serve
     */
    record NetworkThread(EventLoopGroup group, Class<? extends SocketChannel> socket) implements AutoCloseable {

        private static final long CLOSE_TIMEOUT_MILLIS = 2_000;
        /** gRPC's own threads may start a call that waited for its connection right after the channel is closed. */
        private static final long QUIET_MILLIS = 500;

        /** @param cluster its configured name */
        static NetworkThread start(String cluster) {
            boolean epoll = Epoll.isAvailable();
            return new NetworkThread(
                    new MultiThreadIoEventLoopGroup(
                            1,
                            new DefaultThreadFactory("etcd-" + cluster, true),
                            // epoll's timers are exact; those of NIO are rounded to milliseconds.
                            epoll ? EpollIoHandler.newFactory() : NioIoHandler.newFactory()),
                    epoll ? EpollSocketChannel.class : NioSocketChannel.class);
        }

        EventLoop loop() {
            return group.next();
        }

        /** Ends the thread after running tasks, within two seconds. */
        @Override
        @SuppressWarnings("FutureReturnValueIgnored") // Nothing is left to do then.
        public void close() {
            group.shutdownGracefully(QUIET_MILLIS, CLOSE_TIMEOUT_MILLIS, TimeUnit.MILLISECONDS);
        }
    }
}
