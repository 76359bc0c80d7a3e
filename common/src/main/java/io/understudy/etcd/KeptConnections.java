package io.understudy.etcd;

import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslHandler;
import io.netty.handler.timeout.IdleStateEvent;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.etcd.Channels.NetworkThread;
import io.understudy.vocabulary.DaemonThreads;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Sends read-only requests. One connection is kept per endpoint, for the next request; one with anything unexpected is
 * closed. For the network thread only, on which all of it happens.
 *
 * <p>Invariant E7: requests for a page reuse one connection per endpoint, and a connection with anything unexpected is
 * closed.
 *
 * @param <A> an answer
 */
final class KeptConnections<A> implements AutoCloseable {

    /** The protocol of the connections. */
    interface Protocol<A> {

        /** TLS of connections to endpoints that require it. */
        SslContext tls();

        /**
         * Adds handlers that encode requests and decode one {@link Answered} for each. They throw anything that is
         * wrong with the connection.
         */
        void addTo(Channel channel, Endpoint endpoint);
    }

    /** Resolves host names. */
    interface Lookup {
        /** Addresses of a host, at least one. */
        InetAddress[] of(String host) throws UnknownHostException;
    }

    /**
     * Outcome of a request.
     *
     * @param answer fails if it was refused
     * @param lasts whether the connection is good for another request
     */
    record Answered<A>(CompletableFuture<A> answer, boolean lasts) {

        static <A> Answered<A> with(A answer, boolean lasts) {
            return new Answered<>(CompletableFuture.completedFuture(answer), lasts);
        }
    }

    /** A firewall or proxy may drop one that is idle for longer, without a sign. */
    private static final Duration LONGEST_IDLE = Duration.ofSeconds(30);

    private final NetworkThread network;
    private final EventLoop loop;
    private final Protocol<A> protocol;
    private final Duration connectTimeout;
    private final Duration longestIdle;
    private final Lookup lookup;
    /** Runs the look-ups, which may take long. */
    private final ExecutorService lookups;

    private final Map<Endpoint, Connection> idle = new HashMap<>();

    KeptConnections(NetworkThread network, Protocol<A> protocol, Duration connectTimeout) {
        this(network, protocol, connectTimeout, LONGEST_IDLE, InetAddress::getAllByName);
    }

    /** @param longestIdle time without a request after which a connection is closed */
    KeptConnections(
            NetworkThread network, Protocol<A> protocol, Duration connectTimeout, Duration longestIdle, Lookup lookup) {
        this.network = network;
        this.loop = network.loop();
        this.protocol = protocol;
        this.connectTimeout = connectTimeout;
        this.longestIdle = longestIdle;
        this.lookup = lookup;
        this.lookups = Executors.newSingleThreadExecutor(DaemonThreads.named("etcd-lookups"));
    }

    /** Whether a connection to the endpoint waits for a request. */
    boolean isFree(Endpoint endpoint) {
        return idle.containsKey(endpoint);
    }

    /**
     * Sends a request. If the kept connection turns out to be dead, sends it once more over a new one.
     *
     * @param message as the protocol takes it
     * @return the answer, once it is complete; fails as it does, with an {@link IOException}, or by the deadline with a
     *     {@link TimeoutException}
     */
    CompletableFuture<A> call(Endpoint endpoint, Object message, Duration deadline) {
        return call(new Request<>(endpoint, message, true), deadline);
    }

    /** Likewise over a {@linkplain #isFree free} connection only; fails with an {@link IOException} if it is dead. */
    CompletableFuture<A> callFree(Endpoint endpoint, Object message, Duration deadline) {
        return call(new Request<>(endpoint, message, false), deadline);
    }

    private CompletableFuture<A> call(Request<A> request, Duration deadline) {
        request.timer = loop.schedule(
                () -> request.failed(new TimeoutException("no response within " + deadline.toMillis() + " ms")),
                deadline.toNanos(),
                TimeUnit.NANOSECONDS);
        Connection kept = idle.remove(request.endpoint);
        if (kept != null) {
            kept.send(request);
        } else if (request.connects) {
            connect(request);
        } else {
            request.failed(new IOException("no connection"));
        }
        return request.answer;
    }

    private void connect(Request<A> request) {
        try {
            lookups.execute(() -> {
                if (request.answer.isDone()) {
                    // It waited too long for the look-ups before; those behind it need not wait for its own.
                    return;
                }
                try {
                    InetAddress[] addresses = lookup.of(request.endpoint.host());
                    onLoop(request, () -> connect(request, addresses, 0));
                } catch (UnknownHostException e) {
                    onLoop(request, () -> request.failed(e));
                }
            });
        } catch (RejectedExecutionException e) {
            request.failed(new IOException("client is closed", e));
        }
    }

    private void onLoop(Request<A> request, Runnable work) {
        try {
            loop.execute(work);
        } catch (RejectedExecutionException e) {
            request.answer.completeExceptionally(new IOException("client is closed", e));
        }
    }

    /** Connects to the first reachable address from {@code index} on. */
    private void connect(Request<A> request, InetAddress[] addresses, int index) {
        if (request.answer.isDone()) {
            return;
        }
        Endpoint endpoint = request.endpoint;
        ChannelFuture connected = new Bootstrap()
                .group(loop)
                .channel(network.socket())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(
                        ChannelOption.CONNECT_TIMEOUT_MILLIS,
                        Math.toIntExact(connectTimeout.toMillis() / addresses.length))
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        if (endpoint.tls()) {
                            channel.pipeline()
                                    .addLast(protocol.tls()
                                            .newHandler(channel.alloc(), endpoint.host(), endpoint.port()));
                        }
                        protocol.addTo(channel, endpoint);
                        channel.pipeline()
                                .addLast(
                                        new IdleStateHandler(0, 0, longestIdle.toMillis(), TimeUnit.MILLISECONDS),
                                        new Connection(endpoint, channel));
                    }
                })
                .connect(new InetSocketAddress(addresses[index], endpoint.port()));
        connected.addListener(done -> {
            if (!done.isSuccess()) {
                if (index + 1 < addresses.length) {
                    connect(request, addresses, index + 1);
                } else {
                    request.failed(done.cause());
                }
                return;
            }
            Channel channel = connected.channel();
            SslHandler tls = channel.pipeline().get(SslHandler.class);
            if (tls == null) {
                send(channel, request);
                return;
            }
            // Should the request be too late by then, the connection was not made in vain.
            tls.handshakeFuture().addListener(shaken -> {
                if (shaken.isSuccess()) {
                    send(channel, request);
                } else {
                    request.failed(io(shaken.cause()));
                }
            });
        });
    }

    private static IOException io(Throwable why) {
        return why instanceof IOException known ? known : new IOException(why.toString(), why);
    }

    @SuppressWarnings("unchecked") // Of this object's own making.
    private void send(Channel channel, Request<A> request) {
        ((Connection) channel.pipeline().get(Connection.class)).send(request);
    }

    @Override
    public void close() {
        lookups.shutdown();
    }

    private static final class Request<A> {
        private final Endpoint endpoint;
        private final Object message;
        private final boolean connects;
        private final CompletableFuture<A> answer = new CompletableFuture<>();
        private @Nullable ScheduledFuture<?> timer;
        private KeptConnections<A>.@Nullable Connection connection;

        Request(Endpoint endpoint, Object message, boolean connects) {
            this.endpoint = endpoint;
            this.message = message;
            this.connects = connects;
        }

        void answered(CompletableFuture<A> with) {
            ended();
            Calls.whenDone(with, (value, refusal) -> {
                if (refusal == null) {
                    answer.complete(value);
                } else {
                    answer.completeExceptionally(refusal);
                }
            });
        }

        /** Fails the request and closes its connection, which may still deliver a response. */
        void failed(Throwable why) {
            ended();
            if (connection != null) {
                connection.abandon();
            }
            answer.completeExceptionally(why);
        }

        private void ended() {
            if (timer != null) {
                timer.cancel(false);
            }
        }
    }

    /** Serves one request at a time. */
    private final class Connection extends SimpleChannelInboundHandler<Answered<A>> {

        private final Endpoint endpoint;
        private final Channel channel;
        private @Nullable Request<A> current;
        /** Whether it has waited for a request: the server may have closed it since. */
        private boolean kept;

        Connection(Endpoint endpoint, Channel channel) {
            this.endpoint = endpoint;
            this.channel = channel;
        }

        void send(Request<A> request) {
            if (request.answer.isDone()) {
                // Too late; this is a connection as good as new.
                keep();
                return;
            }
            current = request;
            request.connection = this;
            channel.writeAndFlush(request.message).addListener(written -> {
                if (!written.isSuccess()) {
                    lost(written.cause(), true);
                }
            });
        }

        @Override
        protected void channelRead0(ChannelHandlerContext context, Answered<A> answered) {
            Request<A> request = current;
            if (request == null) {
                lost(new IOException("unexpected response"), false);
                return;
            }
            current = null;
            if (answered.lasts()) {
                keep();
            } else {
                shut();
            }
            request.answered(answered.answer());
        }

        private void keep() {
            kept = true;
            if (!channel.isActive() || idle.putIfAbsent(endpoint, this) != null) {
                shut();
            }
        }

        void abandon() {
            current = null;
            shut();
        }

        private void shut() {
            var unused = channel.close();
        }

        @Override
        public void userEventTriggered(ChannelHandlerContext context, Object event) {
            if (event instanceof IdleStateEvent && current == null) {
                lost(new IOException("idle"), false);
            }
        }

        @Override
        public void channelInactive(ChannelHandlerContext context) {
            lost(new IOException("connection closed by the server"), true);
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
            boolean ofTheAnswer = cause instanceof DecoderException;
            lost(ofTheAnswer && cause.getCause() != null ? cause.getCause() : cause, !ofTheAnswer);
        }

        /** @param closed whether that may have happened before the request */
        private void lost(Throwable why, boolean closed) {
            boolean unused = idle.remove(endpoint, this);
            Request<A> request = current;
            abandon();
            if (request == null) {
                return;
            }
            request.connection = null;
            if (kept && closed && request.connects) {
                connect(request);
            } else {
                request.failed(io(why));
            }
        }
    }
}
