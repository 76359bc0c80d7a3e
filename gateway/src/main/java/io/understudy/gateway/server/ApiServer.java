package io.understudy.gateway.server;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPipeline;
import io.netty.handler.ssl.SslHandler;
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
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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
     * Of those who answer what isn't gRPC, {@code calls} come before {@code pages}, which answer all that is left.
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
        // A client that went away says so by a reset; without a handler each is logged as an error.
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
        // Before Vert.x's own handler, which so sees no bytes but goes on caring for the connection's end.
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
}
