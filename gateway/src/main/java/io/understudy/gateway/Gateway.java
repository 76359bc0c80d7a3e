package io.understudy.gateway;

import io.etcd.jetcd.api.AuthGrpc;
import io.etcd.jetcd.api.StatusResponse;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.config.HostPort;
import io.understudy.etcd.ClusterView;
import io.understudy.feed.FeedMetrics;
import io.understudy.feed.FeedSource;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Caller.Freshness;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.caller.Session;
import io.understudy.gateway.dashboard.Dashboard;
import io.understudy.gateway.dashboard.DashboardSources;
import io.understudy.gateway.forward.ForwardMetrics;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.forward.ServedCalls;
import io.understudy.gateway.hub.WatchHub;
import io.understudy.gateway.json.JsonApi;
import io.understudy.gateway.member.MemberAnswers;
import io.understudy.gateway.member.MemberSettings.MembersShown;
import io.understudy.gateway.member.StatusReport;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.gateway.metrics.GatewayMetrics;
import io.understudy.gateway.permission.Rechecks;
import io.understudy.gateway.read.ReadPath;
import io.understudy.gateway.read.ReadSource;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.gateway.replica.ReplicaState.Condition;
import io.understudy.gateway.replica.ReplicaState.ReplicaListener;
import io.understudy.gateway.replica.ReplicaWriter;
import io.understudy.gateway.rest.RestApi;
import io.understudy.gateway.rest.StreamSource;
import io.understudy.gateway.server.ApiServer;
import io.understudy.gateway.server.ConnectionLimit;
import io.understudy.gateway.server.Loads;
import io.understudy.gateway.server.RequestListener;
import io.understudy.gateway.server.WebPages;
import io.understudy.gateway.server.WebPages.MetricsPage;
import io.understudy.gateway.trace.CallTrace.CallTracer;
import io.understudy.gateway.trace.Tracing;
import io.understudy.gateway.watch.Watches;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.tls.TlsFileException;
import io.understudy.tls.TlsServer;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.ToLongFunction;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running gateway: a replica of a source cluster behind the etcd v3 API.
 *
 * <p>It listens at once; {@code /readyz} is green, and the replica serves reads, from the first complete snapshot on;
 * until then reads are forwarded to the source, if it serves any. When the source's history can't be followed, {@link
 * #failure} fails and {@code /readyz} turns red; the last good state is served until the owner closes the gateway.
 *
 * <p>Invariant G1: a start succeeds or leaves nothing running, and readiness follows the source.
 */
public final class Gateway implements AutoCloseable {

    private static final String AUTHENTICATE = AuthGrpc.getAuthenticateMethod().getFullMethodName();

    private static final Logger LOG = LoggerFactory.getLogger(Gateway.class);
    private static final Duration START_DEADLINE = Duration.ofSeconds(30);
    /** Maximum time for a collector at closing, within the termination grace period. Its first export connects. */
    private static final Duration LAST_SPANS = Duration.ofSeconds(5);

    private final GatewaySettings settings;
    private final ProcessMetrics process;
    private final MemberId id;
    private final @Nullable TlsServer tls;
    private final Vertx vertx;
    private final GatewaySource source;
    private final Replica replica;
    private final ReplicaWriter writer;
    private final ReadPath reads;
    private final WatchHub hub;
    private final Watches watches;
    private final ServedCalls calls;
    private final ApiServer server;
    private final RestApi restApi;
    private final ApiServer rest;
    private final Tracing tracing;
    private final @Nullable Dashboard dashboard;
    private final AtomicBoolean closing = new AtomicBoolean();
    private int apiPort;
    private int restPort;
    /** Confined to the writing thread. */
    private boolean announced;

    private Gateway(
            GatewaySettings settings,
            UnaryOperator<ReadSource> reading,
            UnaryOperator<FeedSource> feeds,
            ProcessMetrics process,
            int loops) {
        this.settings = settings;
        this.process = process;
        MeterRegistry registry = process.registry();
        String build = process.version();
        this.id = MemberIds.of(settings.name());
        this.tls = TlsFileException.at("tls", () -> settings.security().server(registry));
        GatewayMetrics metrics = new GatewayMetrics(registry);
        this.replica = new Replica(settings.range(), settings.replica(), replicaListener(metrics));
        this.source = source(settings, replica, metrics, registry);
        this.writer =
                new ReplicaWriter(replica, feeds.apply(source.feeds()), metrics::applied, metrics::resynchronised);
        ConnectionLimit connections = ConnectionLimit.of(
                settings.limits().maxConnections(), settings.rest().enabled() ? 2 : 1);
        this.vertx = connections.vertx(new VertxOptions().setEventLoopPoolSize(loops));
        ReadPermissions permissions = source.permissions(vertx);
        ResponseHeaders headers = new ResponseHeaders(id, source::raftTerm);
        this.reads = new ReadPath(
                vertx,
                settings.reads(),
                replica,
                headers,
                permissions,
                reading.apply(source.reads()),
                writer::requestProgress,
                this::isLeaderLost,
                registry,
                System::nanoTime);
        this.hub = new WatchHub(
                settings.watches(),
                replica.log(),
                replica.kept(),
                source.history(),
                source.previousEntries(),
                registry);
        this.watches = new Watches(
                hub,
                settings.range(),
                headers,
                permissions,
                new Watches.Source(source::cluster, this::isLeaderLost, this::unwatched, reads::requestProgress),
                forwardsWatches(settings) ? source.forwarding()::watch : null,
                settings.limits().maxRequestBytes(),
                registry,
                System::nanoTime);
        GatewayChecks checks = new GatewayChecks(
                closing::get,
                replica,
                writer,
                reads,
                source.answersReads(),
                source.checks(reads),
                settings.maxSilence());
        MemberAnswers members = new MemberAnswers(
                settings.name(),
                build,
                reads::version,
                settings.members(),
                replica::state,
                source::cluster,
                source::leader,
                source::revision,
                this::sourceStatus,
                headers,
                MemberIds::of);
        this.calls = new ServedCalls(source.forwarding(), reads::holds);
        ApiMethods methods = new ApiMethods(
                permissions,
                reads,
                watches,
                calls,
                members,
                source.topic() == null ? settings.members().shown() : MembersShown.GATEWAYS);
        Loads loads = new Loads(settings.limits().load(), registry);
        this.tracing = Tracing.of(settings.tracing(), settings.name(), build, registry);
        RequestListener listener =
                method -> TracedRequests.of(metrics.requestsOf(method)::answered, tracing.ofMethod(method));
        this.server = new ApiServer(
                vertx,
                settings.listen(),
                tls,
                settings.limits(),
                connections,
                loads,
                Stream.concat(
                                methods.overGrpc().stream(),
                                new HealthMethods(() -> checks.ready().problem().isEmpty(), calls).all().stream())
                        .toList(),
                listener,
                new JsonApi(
                        vertx,
                        reads,
                        methods::call,
                        methods::stream,
                        source.jsonForm(),
                        settings.limits().maxRequestBytes(),
                        listener),
                new WebPages(checks.pages(), members::versions, new MetricsPage(vertx, process::scrape)));
        StatusReport report =
                new StatusReport(settings.name(), build, id.toString(), source.kind(), checks.ready(), this::held);
        this.dashboard = settings.rest().enabled() && settings.dashboard().enabled()
                ? new Dashboard(
                        settings.dashboard(),
                        new DashboardSources(
                                report,
                                source.topic(),
                                source::view,
                                reads::unconfirmed,
                                () -> replica.log().from(),
                                this::lagRevisions),
                        registry)
                : null;
        RequestListener restListener = route -> TracedRequests.of(
                metrics.restRequestsOf(route)::answered,
                RestApi.READS.contains(route) ? tracing.ofRoute(route) : CallTracer.NONE);
        this.restApi = new RestApi(
                reads,
                permissions,
                request -> methods.call(AUTHENTICATE, anonymous(), request, gone -> {}),
                new StreamSource(
                        hub,
                        settings.range(),
                        permissions,
                        settings.rest().heartbeatInterval(),
                        Rechecks.revocations(registry)),
                report,
                dashboard,
                restListener);
        this.rest = new ApiServer(
                vertx,
                settings.rest().listen(),
                tls,
                RestApi.limits(settings.limits()),
                connections,
                loads,
                List.of(),
                listener,
                restApi,
                restApi);
        GatewayMeter.READY
                .gauge(() -> checks.ready().problem().isEmpty() ? 1 : 0)
                .register(registry);
        GatewayMeter.REPLICA_REVISION
                .gauge(() -> ofState(state -> state.revision().value()))
                .register(registry);
        GatewayMeter.REPLICA_KEYS.gauge(() -> ofState(ReplicaState::keys)).register(registry);
        GatewayMeter.REPLICA_BYTES.gauge(() -> ofState(ReplicaState::bytes)).register(registry);
        GatewayMeter.REPLICA_HEAP.gauge(replica::heapBytes).register(registry);
        GatewayMeter.WINDOW_COMMITS.gauge(() -> replica.log().size()).register(registry);
        GatewayMeter.WINDOW_BYTES.gauge(() -> replica.log().bytes()).register(registry);
        GatewayMeter.RESPONSES_KEPT.gauge(() -> replica.kept().bytes()).register(registry);
        GatewayMeter.REPLICA_LAG.gauge(this::lagRevisions).register(registry);
        GatewayMeter.REPLICA_READY.gauge(() -> ofState(state -> 1)).register(registry);
        GatewayMeter.FEED_SILENCE
                .gauge(() -> writer.silence().toMillis() / 1000.0)
                .register(registry);
        GatewayMeter.CONNECTIONS.gauge(server::connections).register(registry);
        GatewayMeter.REST_STREAMS.gauge(restApi::streams).register(registry);
    }

    /**
     * Starts a gateway. Does not wait for the source.
     *
     * @throws IOException if the address can't be bound, or the start times out; nothing is left running
     * @throws RuntimeException if files that the settings name can't be used
     */
    public static Gateway start(GatewaySettings settings) throws IOException, InterruptedException {
        return start(settings, UnaryOperator.identity(), UnaryOperator.identity());
    }

    /**
     * @param reading may wrap reads from the source
     * @param feeds may wrap the source's feeds to the replica
     */
    static Gateway start(GatewaySettings settings, UnaryOperator<ReadSource> reading, UnaryOperator<FeedSource> feeds)
            throws IOException, InterruptedException {
        int loops = Runtime.getRuntime().availableProcessors();
        ProcessMetrics process = new ProcessMetrics("gateway", ProcessMetrics.versionOf(Gateway.class));
        Gateway gateway = new Gateway(settings, reading, feeds, process, loops);
        try {
            gateway.listen(loops);
        } catch (IOException | InterruptedException | RuntimeException e) {
            gateway.close();
            throw e;
        }
        gateway.writer.start();
        gateway.reads.start();
        gateway.source.start(gateway.writer);
        if (gateway.dashboard != null) {
            gateway.dashboard.start();
        }
        return gateway;
    }

    /** The port of the etcd v3 API and of the pages beside it. */
    public int apiPort() {
        return apiPort;
    }

    /** The port of REST; 0 if it isn't served. */
    public int restPort() {
        return restPort;
    }

    /** Returns the member id in this gateway's responses. */
    public MemberId memberId() {
        return id;
    }

    /** Returns the staleness of the served state; null while unknown. */
    public @Nullable Duration staleness() {
        return reads.staleness();
    }

    /**
     * Fails with the reason when the source can't be followed any more; never completes otherwise. The process should
     * then exit with a non-zero status.
     */
    public CompletableFuture<Void> failure() {
        return writer.failure();
    }

    /**
     * Stops in order: readiness, new requests, requests in flight, feed, connections to the source. Takes little more
     * than {@link GatewaySettings#closeTimeout}. Idempotent.
     */
    @Override
    public void close() {
        if (!closing.compareAndSet(false, true)) {
            return;
        }
        ShutdownSteps steps = new ShutdownSteps(settings.closeTimeout());
        // Their clients would keep the servers from closing.
        steps.run("watches", watches::close);
        steps.run("forwarded calls", calls::close);
        // Both at once: neither takes requests while the other waits for its own.
        Future<Void> served = server.shutdown(settings.closeTimeout());
        restApi.close();
        Future<Void> servedByRest = rest.shutdown(settings.closeTimeout());
        steps.run("server", () -> steps.await(served));
        steps.run("REST", () -> steps.await(servedByRest));
        steps.run("tracing", () -> tracing.close(LAST_SPANS));
        if (dashboard != null) {
            steps.run("dashboard", dashboard::close);
        }
        steps.run("reads", reads::close);
        steps.run("watch hub", hub::close);
        steps.run("writer", () -> writer.close(settings.closeTimeout()));
        source.close(steps);
        if (tls != null) {
            steps.run("TLS files", tls::close);
        }
        steps.run("event loops", () -> steps.await(vertx.close()));
        steps.run("metrics", process::close);
        LOG.atInfo().addKeyValue("name", settings.name()).log("gateway closed");
    }

    /** Not with two clusters: a client would resume at a revision of the former primary. */
    private static boolean forwardsWatches(GatewaySettings settings) {
        return settings.forward().writes() == Writes.FORWARD
                && settings.source() instanceof SourceSettings.Etcd etcd
                && etcd.standby() == null;
    }

    private static GatewaySource source(
            GatewaySettings settings, Replica replica, GatewayMetrics metrics, MeterRegistry registry) {
        if (settings.source() instanceof SourceSettings.Kafka kafka) {
            return new KafkaSource(kafka, replica, registry);
        }
        SourceSettings.Etcd etcd = (SourceSettings.Etcd) settings.source();
        return etcd.standby() == null
                ? new EtcdSource(
                        etcd,
                        settings,
                        replica,
                        metrics,
                        registry,
                        new ForwardMetrics(registry),
                        new FeedMetrics(etcd.cluster().name(), registry),
                        null)
                : new FollowedSource(etcd, etcd.standby(), settings, replica, metrics, registry);
    }

    private void listen(int loops) throws IOException, InterruptedException {
        HostPort at = settings.listen();
        apiPort = listening(server.listen(loops), at, "listen");
        if (settings.rest().enabled()) {
            restPort = listening(rest.listen(loops), settings.rest().listen(), "rest.listen");
            LOG.atInfo()
                    .addKeyValue("name", settings.name())
                    .addKeyValue(
                            "address", new HostPort(settings.rest().listen().host(), restPort))
                    .log("REST listening");
        }
        LOG.atInfo()
                .addKeyValue("name", settings.name())
                .addKeyValue("address", new HostPort(at.host(), apiPort))
                .addKeyValue("tls", tls != null)
                .addKeyValue("member", id)
                .addKeyValue("transport", transport())
                .addKeyValue("loops", loops)
                .log("gateway listening");
    }

    private static int listening(Future<Integer> port, HostPort at, String setting)
            throws IOException, InterruptedException {
        try {
            return port.toCompletionStage().toCompletableFuture().get(START_DEADLINE.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            throw new IOException(
                    "gateway does not listen on " + at + " after " + START_DEADLINE.toSeconds()
                            + " s; free processor time on this machine",
                    e);
        } catch (ExecutionException e) {
            Throwable why = e.getCause() == null ? e : e.getCause();
            throw new IOException(
                    "gateway cannot listen on " + at + ": " + why.getMessage() + "; free the port or change '" + setting
                            + "'",
                    why);
        }
    }

    private String transport() {
        Throwable missing = vertx.unavailableNativeTransportCause();
        return vertx.isNativeTransportEnabled()
                ? "native"
                : missing == null ? "nio" : "nio (native transport unavailable: " + missing.getMessage() + ")";
    }

    private ReplicaListener replicaListener(GatewayMetrics metrics) {
        return new ReplicaListener() {
            @Override
            public void published(ReplicaState state) {
                Gateway.this.published(state);
            }

            @Override
            public void advanced(Revision revision) {
                hub.wake();
            }

            @Override
            public void asOf(Revision revision, Instant time) {
                reads.asOf(revision, time);
            }

            /** Sessions and watchers know revisions that no longer name a state. */
            @Override
            public void restarted(Revision revision) {
                hub.restart(revision.value() + 1);
                server.disconnect();
                rest.disconnect();
            }

            @Override
            public void dropped(Condition.Dropped why) {
                announced = false;
                reads.dropped();
                metrics.dropped();
            }

            @Override
            public void ended(int responses) {
                metrics.ended(responses);
            }
        };
    }

    private void published(ReplicaState state) {
        hub.wake();
        reads.published(state);
        if (!announced) {
            announced = true;
            source.replicaReady();
            LOG.atInfo()
                    .addKeyValue("cluster_id", state.cluster())
                    .addKeyValue("revision", state.revision())
                    .addKeyValue("keys", state.keys())
                    .addKeyValue("bytes", state.bytes())
                    .log("replica ready");
        }
    }

    private @Nullable StatusResponse sourceStatus() {
        ClusterView view = source.view();
        return view == null ? null : view.status();
    }

    private static Caller anonymous() {
        return new Caller(
                Principal.ANONYMOUS, new Session(), Freshness.ANY, Caller.NO_DEADLINE, () -> false, Runnable::run);
    }

    private StatusReport.Held held() {
        ReplicaState state = replica.state();
        return state == null
                ? new StatusReport.Held("", 0, 0, 0, null)
                : new StatusReport.Held(
                        state.cluster().toString(),
                        state.revision().value(),
                        state.keys(),
                        state.bytes(),
                        reads.staleness());
    }

    private boolean isLeaderLost() {
        return reads.unconfirmed().compareTo(settings.watches().noLeaderTimeout()) >= 0;
    }

    /**
     * Time for which watches may lack commits: without confirmed revisions, or with a feed that has been silent or behind
     * them for longer than it needs to switch to another member.
     */
    private Duration unwatched() {
        Duration unconfirmed = reads.unconfirmed();
        if (settings.source() instanceof SourceSettings.Kafka) {
            return unconfirmed;
        }
        Duration behind = reads.behind(replica.log().head());
        Duration silence = writer.silence();
        Duration late = (behind.compareTo(silence) > 0 ? behind : silence)
                .minus(settings.feed().stallTimeout());
        return late.compareTo(unconfirmed) > 0 ? late : unconfirmed;
    }

    private long lagRevisions() {
        return Math.max(0, source.revision() - ofState(state -> state.revision().value()));
    }

    private long ofState(ToLongFunction<ReplicaState> property) {
        @Nullable ReplicaState state = replica.state();
        return state == null ? 0 : property.applyAsLong(state);
    }
}
