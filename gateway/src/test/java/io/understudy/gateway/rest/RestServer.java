package io.understudy.gateway.rest;

import io.etcd.jetcd.api.AuthenticateResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.api.RangeEvaluation;
import io.understudy.gateway.api.ReplicaKeys;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.dashboard.Dashboard;
import io.understudy.gateway.dashboard.DashboardSettings;
import io.understudy.gateway.dashboard.DashboardSources;
import io.understudy.gateway.member.StatusReport;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.read.Answer.Provenance;
import io.understudy.gateway.read.Answer.Provenance.Consistency;
import io.understudy.gateway.read.Answer.Provenance.Origin;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.gateway.server.ApiServer;
import io.understudy.gateway.server.ConnectionLimit;
import io.understudy.gateway.server.Loads;
import io.understudy.gateway.server.Unhurried;
import io.understudy.health.HealthChecks;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.MemberId;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The REST port on one event loop, over a fixed state. Tests observe its reads. */
final class RestServer implements AutoCloseable {

    final Vertx vertx = Vertx.vertx();
    final MeterRegistry meters = new SimpleMeterRegistry();
    final AtomicInteger logins = new AtomicInteger();
    volatile boolean authenticates = true;
    /** In the headers of answers. */
    volatile ClusterId cluster = new ClusterId(0xc1);

    volatile Interceptor interceptor = (caller, answer) -> Future.succeededFuture(answer);
    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final ReplicaState state;
    private final Dashboard dashboard;
    private final int port;

    /** Replaces the answer of a read, or fails it. */
    @FunctionalInterface
    interface Interceptor {
        Future<Answer<RangeResult>> answer(Caller caller, Answer<RangeResult> answer);
    }

    RestServer(ReplicaState state) {
        this.state = state;
        StatusReport report = new StatusReport(
                "test", "1", "2", "etcd", new HealthChecks(), () -> new StatusReport.Held("", 1, 1, 1, Duration.ZERO));
        dashboard = new Dashboard(
                DashboardSettings.DEFAULTS,
                new DashboardSources(report, "topic", () -> null, () -> Duration.ZERO, () -> 0, () -> 0),
                meters);
        dashboard.start();
        RestApi api = new RestApi(
                new StateReads(),
                ReadPermissions.EVERYTHING,
                request -> login(),
                // No test watches.
                new StreamSource(
                        null,
                        KeyRange.all(),
                        ReadPermissions.EVERYTHING,
                        Duration.ofMinutes(1),
                        meters.counter("none")),
                report,
                dashboard,
                route -> (code, nanos) -> {});
        ApiServer server = new ApiServer(
                vertx,
                new HostPort("127.0.0.1", 0),
                null,
                RestApi.limits(Unhurried.LIMITS),
                new ConnectionLimit(100, Integer.MAX_VALUE),
                new Loads(Unhurried.LIMITS.load(), meters),
                List.of(),
                method -> (code, nanos) -> {},
                api,
                api);
        port = get(server.listen(1));
    }

    private final class StateReads implements Reads {

        @Override
        public EtcdVersion version() {
            return EtcdVersion.NEWEST;
        }

        @Override
        public Future<Answer<RangeResult>> range(Caller caller, RangeRequest request) {
            RangeResult result = RangeEvaluation.range(
                    request,
                    new ReplicaKeys(state),
                    new ResponseHeaders(new MemberId(5), () -> 2).of(cluster, state.revision()),
                    EtcdVersion.NEWEST);
            return interceptor.answer(
                    caller,
                    new Answer<>(
                            result,
                            state.revision().value(),
                            null,
                            new Provenance(Consistency.SERIALIZABLE, Origin.VOTER)));
        }

        @Override
        public Future<Answer<TxnResult>> txn(Caller caller, TxnRequest request) {
            return Future.failedFuture(ApiException.noVoters());
        }
    }

    private Future<byte[]> login() {
        return authenticates
                ? Future.succeededFuture(AuthenticateResponse.newBuilder()
                        .setToken("token." + logins.incrementAndGet())
                        .build()
                        .toByteArray())
                : Future.failedFuture(
                        new ApiException(Status.Code.FAILED_PRECONDITION, "etcdserver: authentication is not enabled"));
    }

    int port() {
        return port;
    }

    /** @param fields names and values in turn */
    HttpResponse<String> get(String path, String... fields) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
        if (fields.length > 0) {
            request.headers(fields);
        }
        return http.send(request.build(), BodyHandlers.ofString());
    }

    /** Bytes of requests and answers that are held. */
    long held() {
        return (long) meters.get("understudy.gateway.requests.held").gauge().value();
    }

    private static <T> T get(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Override
    public void close() {
        dashboard.close();
        Void unused = get(vertx.close());
    }
}
