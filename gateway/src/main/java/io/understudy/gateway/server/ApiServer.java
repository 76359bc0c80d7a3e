package io.understudy.gateway.server;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.channel.MaxMessagesRecvByteBufAllocator;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.understudy.config.HostPort;
import io.understudy.gateway.server.Loads.LoadMetrics;
import io.understudy.gateway.server.WebHandler.WebCalls;
import io.understudy.tls.TlsServer;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.net.NetSocketInternal;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A listening port with a server on every event loop.
 *
 * <p>Invariant S2: any input over HTTP/1.1, HTTP/2 or no protocol gets a response or a close and no stack trace, and
 * other clients are served meanwhile.
 *
 * <p>Invariant S2b: the server enforces deadlines, and completes requests in flight before it closes.
 */
public final class ApiServer {

    /** The name of Vert.x's own handler in a pipeline. */
    private static final String VERTX_HANDLER = "handler";

    /** Time for calls in flight on a connection that is closing. */
    private static final long DISCONNECT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Lifetime of a connection beyond the limit. */
    private static final long SPARE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Queue<NetServer> servers = new ConcurrentLinkedQueue<>();
    /** Open connections, each with its graceful shutdown. */
    private final Map<NetSocket, Runnable> connections = new ConcurrentHashMap<>();
    /** Connections beyond the limit without a request, oldest first. */
    private final Queue<NetSocket> idleSpares = new ConcurrentLinkedQueue<>();

    private final Vertx vertx;
    private final HostPort listen;
    private final int freePort;
    private final @Nullable TlsServer tls;
    private final ServerLimits limits;
    private final ConnectionLimit connectionLimit;
    private final Loads loads;
    private final Requests requests;

    /**
     * Requests other than gRPC go to {@code calls} first, and the rest to {@code pages}.
     *
     * @param tls null for plain text
     * @param loads counts requests in flight on the same event loops
     */
    public ApiServer(
            Vertx vertx,
            HostPort listen,
            @Nullable TlsServer tls,
            ServerLimits limits,
            ConnectionLimit connectionLimit,
            Loads loads,
            List<? extends GrpcMethod> methods,
            RequestListener listener,
            WebCalls calls,
            WebHandler pages) {
        this.vertx = vertx;
        this.listen = listen;
        this.freePort = methods.isEmpty() ? -2 : -1;
        this.tls = tls;
        this.limits = limits;
        this.connectionLimit = connectionLimit;
        this.loads = loads;
        this.requests = new Requests(methods, listener, calls, pages, limits);
    }

    /** Listens with one server per loop. Returns the port; fails if it is in use. */
    public Future<Integer> listen(int loops) {
        return vertx.deployVerticle(Loop::new, new DeploymentOptions().setInstances(loops))
                .map(deployed -> servers.element().actualPort());
    }

    /** Stops accepting, waits for requests in flight until {@code deadline}, then closes all connections. */
    public Future<Void> shutdown(Duration deadline) {
        return Future.join(servers.stream()
                        .map(server -> server.shutdown(deadline.toMillis(), TimeUnit.MILLISECONDS))
                        .toList())
                .mapEmpty();
    }

    /** Returns the number of open connections. Thread-safe. */
    public int connections() {
        return connections.size();
    }

    /** Disconnects all clients, after a short time for requests in flight. Thread-safe. */
    public void disconnect() {
        connections.values().forEach(Runnable::run);
    }

    private final class Loop extends VerticleBase {
        @Override
        public Future<?> start() {
            // All instances of a server share the free port of a negative number.
            int port = listen.port() == 0 ? freePort : listen.port();
            return vertx.createNetServer(limits.net())
                    .connectHandler(socket -> connect((ContextInternal) context, socket))
                    .listen(port, listen.host())
                    .onSuccess(servers::add);
        }
    }

    private void connect(ContextInternal context, NetSocket socket) {
        boolean spare = connections.size() >= connectionLimit.clients();
        if (spare) {
            loads.metrics().closed(LoadMetrics.Closure.CONNECTIONS);
        }
        if (connections.size() >= connectionLimit.clients() + ConnectionLimit.SPARE) {
            NetSocket replaced = idleSpares.poll();
            if (replaced == null) {
                socket.close();
                return;
            }
            replaced.close();
        }
        // A client that left sends a reset; without a handler each is logged as an error.
        socket.exceptionHandler(lost -> {});
        ClientConnection client = new ClientConnection(
                context,
                socket,
                limits,
                loads.of(context.nettyEventLoop()),
                spare ? () -> idleSpares.remove(socket) : null);
        if (spare) {
            idleSpares.add(socket);
            var unused = client.after(SPARE_NANOS, socket::close);
        }
        ProtocolSelector selector = new ProtocolSelector(client, requests, limits);
        socket.closeHandler(closed -> {
            connections.remove(socket);
            idleSpares.remove(socket);
        });
        // Before Vert.x's own handler, which then only handles the connection's end.
        ChannelHandlerContext last = ((NetSocketInternal) socket).channelHandlerContext();
        ChannelPipeline pipeline = last.pipeline();
        pipeline.channel().config().setWriteBufferWaterMark(limits.unread());
        // One read of up to 64 KiB, then the other connections of the loop: Netty's default are 16.
        if (pipeline.channel().config().getRecvByteBufAllocator() instanceof MaxMessagesRecvByteBufAllocator reads) {
            var unused = reads.maxMessagesPerRead(1);
        }
        if (tls != null) {
            SslHandler secured = tls.handler(pipeline.channel().alloc());
            secured.setHandshakeTimeoutMillis(limits.stallTimeout().toMillis());
            pipeline.addFirst("tls", secured);
        }
        pipeline.addBefore(VERTX_HANDLER, "scope", new ContextScope(context));
        pipeline.addBefore(VERTX_HANDLER, "selector", selector);
        pipeline.addBefore(VERTX_HANDLER, "close", new PromptClose());
        socket.shutdownHandler(closing -> selector.shutDown(last));
        connections.put(
                socket,
                () -> context.runOnContext(run -> {
                    selector.shutDown(last);
                    var unused = client.after(DISCONNECT_NANOS, socket::close);
                }));
    }

    /** Sets the connection's context as Vert.x's current one during its events. */
    private static final class ContextScope extends ChannelInboundHandlerAdapter {

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

    /**
     * The last handler before Vert.x's own.
     *
     * <p>Lets Vert.x close connections at once. It writes an empty buffer first and waits for it, which never ends for
     * a client that doesn't read. It writes nothing else: all data for clients comes from the handlers before this one.
     */
    private static final class PromptClose extends ChannelDuplexHandler {

        private static final Logger LOG = LoggerFactory.getLogger(PromptClose.class);

        @Override
        public void write(ChannelHandlerContext ctx, Object message, ChannelPromise promise) {
            ReferenceCountUtil.release(message);
            promise.setSuccess();
        }

        @Override
        public void channelWritabilityChanged(ChannelHandlerContext ctx) {
            // Hidden from Vert.x, which would wait for the channel to become writable.
        }

        @Override
        public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
            if (cause instanceof IOException || cause instanceof DecoderException) {
                // Failures caused by clients are not errors, as which Vert.x would log them.
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
}
