package io.understudy.gateway.server;

import io.understudy.config.HostPort;
import io.understudy.gateway.caller.Sessions;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.grpc.server.GrpcServer;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** A listening port with a server on every event loop. */
public final class ApiServer {

    private static final String GRPC = "application/grpc";

    private final Queue<HttpServer> servers = new ConcurrentLinkedQueue<>();
    private final Vertx vertx;
    private final HostPort listen;
    private final ServerLimits limits;
    private final List<UnaryMethod<?, ?>> methods;
    private final RequestListener listener;
    private final HttpCalls calls;
    private final WebPages pages;

    public ApiServer(
            Vertx vertx,
            HostPort listen,
            ServerLimits limits,
            List<UnaryMethod<?, ?>> methods,
            RequestListener listener,
            HttpCalls calls,
            WebPages pages) {
        this.vertx = vertx;
        this.listen = listen;
        this.limits = limits;
        this.methods = List.copyOf(methods);
        this.listener = listener;
        this.calls = calls;
        this.pages = pages;
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

    private final class Loop extends VerticleBase {
        private final Sessions sessions = new Sessions();

        @Override
        public Future<?> start() {
            GrpcServer grpc =
                    GrpcServer.server(vertx, limits.grpc()).callHandler(new GrpcCalls(methods, listener, sessions));
            Handler<HttpServerRequest> web = pages.on(vertx);
            HttpServer server = vertx.createHttpServer(limits.http()).requestHandler(request -> {
                if (isGrpc(request)) {
                    grpc.handle(request);
                } else if (calls.serves(request.path())) {
                    calls.handle(request, sessions.of(request.connection()));
                } else {
                    web.handle(request);
                }
            });
            // A negative port is a free one that all instances share.
            int port = listen.port() == 0 ? -1 : listen.port();
            return server.listen(port, listen.host()).onSuccess(servers::add);
        }
    }

    private static boolean isGrpc(HttpServerRequest request) {
        String type = request.getHeader("content-type");
        return request.version() == HttpVersion.HTTP_2 && type != null && type.startsWith(GRPC);
    }
}
