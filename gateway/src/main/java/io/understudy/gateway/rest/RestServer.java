package io.understudy.gateway.rest;

import io.netty.channel.EventLoop;
import io.understudy.config.HostPort;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.dashboard.Dashboard;
import io.understudy.gateway.member.StatusReport;
import io.understudy.gateway.page.Page;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.server.ConnectionLimit;
import io.understudy.gateway.server.Loads;
import io.understudy.tls.TlsServer;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.net.JdkSSLEngineOptions;
import io.vertx.core.net.KeyCertOptions;
import io.vertx.core.net.TrustOptions;
import java.time.Duration;
import java.util.LinkedHashSet;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The listening port of REST, with a server on every event loop. */
public final class RestServer {

    /** Maximum size of path and query; longer keys need another interface. */
    private static final int MAX_TARGET_BYTES = 16 << 10;

    private static final Logger LOG = LoggerFactory.getLogger(RestServer.class);

    private static final Duration IDLE = Duration.ofMinutes(5);

    private final Queue<HttpServer> servers = new ConcurrentLinkedQueue<>();
    private final Queue<RestApi.Streams> streams = new ConcurrentLinkedQueue<>();
    private final Queue<Runnable> disconnects = new ConcurrentLinkedQueue<>();
    private final Vertx vertx;
    private final HostPort listen;
    private final @Nullable TlsServer tls;
    private final ConnectionLimit connectionLimit;
    private final Loads loads;
    private final RestApi api;
    private final StreamSource streamSource;
    private final ReadPermissions permissions;
    private final @Nullable Dashboard dashboard;

    /**
     * Creates a server that is not listening yet.
     *
     * @param tls null for plain text
     * @param loads counts what is under way on the same event loops
     * @param permissions decide on access to the full status and the dashboard
     * @param dashboard null if there is none
     * @param authenticate calls {@code Auth.Authenticate} without a caller identity
     */
    public RestServer(
            Vertx vertx,
            HostPort listen,
            @Nullable TlsServer tls,
            ConnectionLimit connectionLimit,
            Loads loads,
            Reads reads,
            ReadPermissions permissions,
            Function<byte[], Future<byte[]>> authenticate,
            StreamSource streamSource,
            StatusReport report,
            @Nullable Dashboard dashboard,
            RestListener listener) {
        this.vertx = vertx;
        this.listen = listen;
        this.tls = tls;
        this.connectionLimit = connectionLimit;
        this.loads = loads;
        this.streamSource = streamSource;
        this.permissions = permissions;
        this.dashboard = dashboard;
        this.api = new RestApi(
                reads,
                permissions,
                new Logins(authenticate),
                report,
                dashboard,
                dashboard == null ? Page.none() : Page.load(),
                listener);
    }

    /** Listens with one server per loop. Returns the port, or fails if it is not available. */
    public Future<Integer> listen(int loops) {
        int maxConnections = Math.max(1, connectionLimit.clients() / loops);
        return vertx.deployVerticle(() -> new Loop(maxConnections), new DeploymentOptions().setInstances(loops))
                .map(deployed -> {
                    if (tls != null) {
                        tls.onReload(this::replaceContext);
                    }
                    return servers.element().actualPort();
                });
    }

    private HttpServerOptions options() {
        HttpServerOptions options = new HttpServerOptions()
                .setMaxInitialLineLength(MAX_TARGET_BYTES)
                // Heartbeats of streams may be rarer.
                .setIdleTimeout(
                        (int) IDLE.plus(streamSource.heartbeatInterval()).toSeconds())
                .setTcpNoDelay(true)
                // Until the protocol is negotiated, Vert.x logs each disconnect as an error.
                .setHttp2ClearTextEnabled(false);
        if (tls != null) {
            options.setSsl(true)
                    .setUseAlpn(true)
                    // Handshakes would block event loops for milliseconds.
                    .setSslEngineOptions(new JdkSSLEngineOptions().setUseWorkerThread(true))
                    .setKeyCertOptions(KeyCertOptions.wrap(tls.keys()))
                    .setTrustOptions(TrustOptions.wrap(tls.trust()))
                    .setClientAuth(
                            switch (tls.clients()) {
                                case NONE -> ClientAuth.NONE;
                                case OPTIONAL -> ClientAuth.REQUEST;
                                case REQUIRED -> ClientAuth.REQUIRED;
                            })
                    .setEnabledSecureTransportProtocols(new LinkedHashSet<>(tls.protocols()));
            tls.suites().forEach(options::addEnabledCipherSuite);
        }
        return options;
    }

    /** Replaces the TLS context of all servers, which invalidates the sessions of clients. */
    private void replaceContext() {
        servers.element()
                .updateSSLOptions(options().getSslOptions(), true)
                .onFailure(why ->
                        LOG.warn("REST TLS reload failed; sessions from before the reload can still be resumed", why));
    }

    /** The number of open streams of commits. Thread-safe. */
    public int streams() {
        return streams.stream().mapToInt(each -> each.commits().size()).sum();
    }

    /** Ends streams, rejects new requests, waits for those in flight, then closes all connections. */
    public Future<Void> shutdown(Duration deadline) {
        streams.forEach(RestApi.Streams::close);
        return Future.join(servers.stream()
                        .map(server -> server.shutdown(deadline.toMillis(), TimeUnit.MILLISECONDS))
                        .toList())
                .mapEmpty();
    }

    /** Closes all connections, so that clients reconnect. Thread-safe. */
    public void disconnect() {
        disconnects.forEach(Runnable::run);
    }

    private final class Loop extends VerticleBase {
        private final int maxConnections;

        Loop(int maxConnections) {
            this.maxConnections = maxConnections;
        }

        @Override
        public Future<?> start() {
            EventLoop loop = ContextInternal.current().nettyEventLoop();
            Connections connections = new Connections(loads.of(loop));
            RestApi.Streams here = new RestApi.Streams(
                    new CommitStreams(loop, streamSource),
                    dashboard == null ? null : new OverviewStreams(dashboard, permissions));
            streams.add(here);
            disconnects.add(() -> context.runOnContext(run -> connections.disconnect()));
            // Servers with the same negative port share a free one; the etcd API has another.
            int port = listen.port() == 0 ? -2 : listen.port();
            return vertx.createHttpServer(options())
                    // A disconnect arrives as a reset; without a handler each is logged as an error.
                    .connectionHandler(client -> {
                        client.exceptionHandler(lost -> {});
                        if (connections.count() < maxConnections) {
                            connections.of(client);
                        } else {
                            var unused = client.close();
                        }
                    })
                    .requestHandler(request -> api.handle(request, connections.of(request.connection()), here))
                    .listen(port, listen.host())
                    .onSuccess(servers::add);
        }
    }
}
