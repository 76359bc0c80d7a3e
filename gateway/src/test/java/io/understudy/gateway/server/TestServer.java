package io.understudy.gateway.server;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.RangeEvaluation;
import io.understudy.gateway.api.RangeRequests;
import io.understudy.gateway.api.ReplicaKeys;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.api.States;
import io.understudy.gateway.api.WireMessages;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.gateway.server.GrpcMethod.UnaryMethod;
import io.understudy.gateway.server.WebHandler.WebCalls;
import io.understudy.gateway.server.WebPages.MetricsPage;
import io.understudy.health.HealthCheck;
import io.understudy.health.HealthChecks;
import io.understudy.health.HealthPages;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.MemberId;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/** A server with the gateway's limits in front of a fixed state with the keys {@code a} and {@code b}. */
final class TestServer implements AutoCloseable {

    static final int LOOPS = 2;

    /** What {@code /metrics} answers: a hundred of these are more than a connection holds. */
    static final String METRICS = "# metrics\n".repeat(20_000);

    static final WebCalls NO_CALLS = new WebCalls() {
        @Override
        public boolean serve(String path) {
            return false;
        }

        @Override
        public boolean lasts(WebRequest request) {
            return false;
        }

        @Override
        public boolean streamsRequests(String path) {
            return false;
        }

        @Override
        public void refuse(WebRequest request, ApiException why) {
            throw new IllegalStateException("serves nothing");
        }

        @Override
        public void refuseTooLarge(WebRequest request, long most) {
            throw new IllegalStateException("serves nothing");
        }

        @Override
        public void handle(WebRequest request) {
            throw new IllegalStateException("serves nothing");
        }
    };

    final Vertx vertx = Vertx.vertx();
    final ConcurrentMap<String, AtomicInteger> answered = new ConcurrentHashMap<>();
    final AtomicInteger scrapes = new AtomicInteger();
    volatile Optional<String> problem = Optional.empty();
    private final ApiServer server;
    private final int port;

    TestServer() {
        ReplicaState state =
                States.of(KeyRange.all(), 9, List.of(States.entry("a", "1", 2, 2, 1), States.entry("b", "2", 3, 3, 1)));
        ResponseHeaders headers = new ResponseHeaders(new MemberId(5), () -> 2);
        HealthChecks live = new HealthChecks(new HealthCheck("feed", Optional::empty));
        HealthChecks ready =
                new HealthChecks(new HealthCheck("replica", () -> problem), new HealthCheck("feed", Optional::empty));
        server = new ApiServer(
                vertx,
                new HostPort("127.0.0.1", 0),
                null,
                ServerLimits.DEFAULTS,
                new ConnectionLimit(ServerLimits.DEFAULTS.maxConnections(), Integer.MAX_VALUE),
                new Loads(Unhurried.LOAD, new SimpleMeterRegistry()),
                List.of(UnaryMethod.of(KVGrpc.getRangeMethod(), RangeRequest::parseFrom, (caller, request) -> {
                    try {
                        RangeRequests.requireValid(request, EtcdVersion.NEWEST);
                        return Future.succeededFuture(Reply.of(WireMessages.message(RangeEvaluation.range(
                                request, new ReplicaKeys(state), headers.of(state), EtcdVersion.NEWEST))));
                    } catch (ApiException e) {
                        return Future.failedFuture(e);
                    }
                })),
                method -> (code, nanos) -> answered.computeIfAbsent(method + " " + code, key -> new AtomicInteger())
                        .incrementAndGet(),
                NO_CALLS,
                new WebPages(
                        new HealthPages(live, ready, Set.of("replica")),
                        () -> Map.of("etcdserver", "3.7.3"),
                        new MetricsPage(vertx, accept -> {
                            scrapes.incrementAndGet();
                            return new ProcessMetrics.Scrape(accept == null ? "text/plain" : accept, METRICS);
                        })));
        port = get(server.listen(LOOPS));
    }

    int port() {
        return port;
    }

    URI url(String path) {
        return URI.create("http://127.0.0.1:" + port + path);
    }

    /** A channel with one connection, as gRPC clients have. */
    ManagedChannel channel() {
        return NettyChannelBuilder.forAddress("127.0.0.1", port)
                .usePlaintext()
                .maxInboundMetadataSize(1 << 20)
                .build();
    }

    int answered(String methodAndCode) {
        AtomicInteger count = answered.get(methodAndCode);
        return count == null ? 0 : count.get();
    }

    Future<Void> shutdown(Duration deadline) {
        return server.shutdown(deadline);
    }

    /**
     * Runs a client's exchange on an event loop, where nothing can arrive between two steps of it, and waits for its
     * outcome.
     */
    <T> T onLoop(Supplier<Future<T>> exchange) {
        Promise<T> outcome = Promise.promise();
        vertx.getOrCreateContext().runOnContext(start -> exchange.get().onComplete(outcome));
        return get(outcome.future());
    }

    static <T> T get(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        Void unused = get(vertx.close());
    }
}
