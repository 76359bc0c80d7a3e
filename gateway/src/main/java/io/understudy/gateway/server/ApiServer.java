package io.understudy.gateway.server;

import io.netty.channel.ChannelDuplexHandler;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelPipeline;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.ReferenceCountUtil;
import io.understudy.config.HostPort;
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

    /** What Vert.x calls its own end of a connection's pipeline. */
    private static final String VERTX_HANDLER = "handler";

    /** For calls under way on a connection that is to end. */
    private static final long DISCONNECT_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Of a connection beyond the limit. */
    private static final long SPARE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final Queue<NetServer> servers = new ConcurrentLinkedQueue<>();
    /** Open connections, with what ends each once its calls have ended. */
    private final Map<NetSocket, Runnable> connections = new ConcurrentHashMap<>();
    /** Those beyond the limit that have requested nothing yet, oldest first. */
    private final Queue<NetSocket> idleSpares = new ConcurrentLinkedQueue<>();

    private final Vertx vertx;
    private final HostPort listen;
    private final @Nullable TlsServer tls;
    private final ServerLimits limits;
    private final ConnectionLimit connectionLimit;
    private final Loads loads;
    private final Requests requests;

    /**
     * Requests other than gRPC go to {@code calls} first, and the rest to {@code pages}.
     *
     * @param tls null for plain text
     * @param loads counts what is under way on the same event loops
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
        this.tls = tls;
        this.limits = limits;
        this.connectionLimit = connectionLimit;
        this.loads = loads;
        this.requests = new Requests(methods, listener, calls, pages, limits);
    }

    /** Listens, with one server per loop; gives the port. Fails if it can't be had. */
    public Future<Integer> listen(int loops) {
        return vertx.deployVerticle(Loop::new, new DeploymentOptions().setInstances(loops))
                .map(deployed -> servers.element().actualPort());
    }

    /** Accepts nothing new, lets what is under way end up to {@code deadline}, then closes all connections. */
    public Future<Void> shutdown(Duration deadline) {
        return Future.join(servers.stream()
                        .map(server -> server.shutdown(deadline.toMillis(), TimeUnit.MILLISECONDS))
                        .toList())
                .mapEmpty();
    }

    /** Open connections. For any thread. */
    public int connections() {
        return connections.size();
    }

    /** Has all clients connect again. What is under way may end first, for a moment. For any thread. */
    public void disconnect() {
        connections.values().forEach(Runnable::run);
    }

    private final class Loop extends VerticleBase {
        @Override
        public Future<?> start() {
            // A negative port is a free one that all instances share.
            int port = listen.port() == 0 ? -1 : listen.port();
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
        // Before Vert.x's own handler, which sees no bytes then, but still handles the connection's end.
        ChannelHandlerContext last = ((NetSocketInternal) socket).channelHandlerContext();
        ChannelPipeline pipeline = last.pipeline();
        pipeline.channel().config().setWriteBufferWaterMark(limits.unread());
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

    /** Makes a connection's context the current one of Vert.x while the connection's events are worked on. */
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
     * The end of what is done for a connection here; Vert.x comes after it.
     *
     * <p>Lets Vert.x close the connection when it wants to. It writes an empty buffer first and waits until that has left, which
     * is never for a client that doesn't read, or for one that others keep busy. It writes nothing else: all data for
     * clients comes from the handlers before this one.
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
}
