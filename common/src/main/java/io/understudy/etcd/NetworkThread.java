package io.understudy.etcd;

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
import java.util.concurrent.TimeUnit;

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
