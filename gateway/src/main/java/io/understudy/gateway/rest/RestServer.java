package io.understudy.gateway.rest;

import io.understudy.config.HostPort;
import io.understudy.gateway.caller.Sessions;
import io.understudy.gateway.read.Reads;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.internal.ContextInternal;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

/** The listening port of REST, with a server on every event loop. */
public final class RestServer {

    /** Of path and query together; a key that is longer has to be asked for by other means. */
    private static final int MAX_TARGET_BYTES = 16 << 10;

    private static final Duration IDLE = Duration.ofMinutes(5);

    private final Queue<HttpServer> servers = new ConcurrentLinkedQueue<>();
    private final Queue<CommitStreams> streams = new ConcurrentLinkedQueue<>();
    private final Vertx vertx;
    private final HostPort listen;
    private final RestApi api;
    private final StreamSource streamSource;

    public RestServer(
            Vertx vertx,
            HostPort listen,
            Reads reads,
            StreamSource streamSource,
            StatusReport report,
            RestListener listener) {
        this.vertx = vertx;
        this.listen = listen;
        this.streamSource = streamSource;
        this.api = new RestApi(reads, report, listener);
    }

    /** Listens, with one server per loop; gives the port. Fails if it can't be had. */
    public Future<Integer> listen(int loops) {
        return vertx.deployVerticle(Loop::new, new DeploymentOptions().setInstances(loops))
                .map(deployed -> servers.element().actualPort());
    }

    /** Streams of commits that are open. For any thread. */
    public int streams() {
        return streams.stream().mapToInt(CommitStreams::size).sum();
    }

    /**
     * Ends streams, accepts nothing new, lets what is under way end up to {@code deadline}, then closes all connections.
     */
    public Future<Void> shutdown(Duration deadline) {
        streams.forEach(CommitStreams::close);
        return Future.join(servers.stream()
                        .map(server -> server.shutdown(deadline.toMillis(), TimeUnit.MILLISECONDS))
                        .toList())
                .mapEmpty();
    }

    private final class Loop extends VerticleBase {
        private final Sessions sessions = new Sessions();

        @Override
        public Future<?> start() {
            HttpServerOptions options = new HttpServerOptions()
                    .setMaxInitialLineLength(MAX_TARGET_BYTES)
                    .setIdleTimeout((int) IDLE.toSeconds())
                    .setTcpNoDelay(true);
            CommitStreams here = new CommitStreams(ContextInternal.current().nettyEventLoop(), streamSource);
            streams.add(here);
            // A negative port is a free one that all servers with the same number share: the etcd API has another.
            int port = listen.port() == 0 ? -2 : listen.port();
            return vertx.createHttpServer(options)
                    .requestHandler(request -> api.handle(request, sessions.of(request.connection()), here))
                    .listen(port, listen.host())
                    .onSuccess(servers::add);
        }
    }
}
