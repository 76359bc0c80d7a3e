package io.understudy.gateway.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.RangeResult;
import io.understudy.gateway.api.TxnResult;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.read.Reads;
import io.understudy.gateway.server.ApiServer;
import io.understudy.gateway.server.ConnectionLimit;
import io.understudy.gateway.server.Loads;
import io.understudy.gateway.server.Unhurried;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class JsonDeadlineTest {

    private final ConnectionLimit limit = ConnectionLimit.of(100, 1);
    private final Vertx vertx = limit.vertx(new VertxOptions());
    private final CompletableFuture<Void> cancelled = new CompletableFuture<>();

    @AfterEach
    void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    /** As a write that waits for the next leader. */
    @Test
    void aCallWithoutAnAnswerEndsAtItsClientsDeadline() throws Exception {
        Future<byte[]> held = Promise.<byte[]>promise().future();
        JsonApi api = new JsonApi(
                vertx,
                new NoReads(),
                (method, caller, request, whenGone) -> {
                    whenGone.accept(() -> cancelled.complete(null));
                    return held;
                },
                (method, caller, http, requests, taker) -> {
                    throw new AssertionError("no stream");
                },
                () -> JsonForm.GRPC_GATEWAY_1,
                1 << 20,
                method -> (code, nanos) -> {});
        ApiServer server = new ApiServer(
                vertx,
                new HostPort("127.0.0.1", 0),
                null,
                Unhurried.LIMITS,
                limit,
                new Loads(Unhurried.LIMITS.load(), new SimpleMeterRegistry()),
                List.of(),
                method -> (code, nanos) -> {},
                api,
                page -> page.answer(404, "text/plain", ""));
        int port = server.listen(1).toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);

        HttpResponse<String> response = HttpClient.newHttpClient()
                .sendAsync(
                        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v3/kv/put"))
                                .POST(BodyPublishers.ofString("{\"key\":\"YQ==\"}"))
                                .header("Grpc-Timeout", "100m")
                                .build(),
                        BodyHandlers.ofString())
                .get(30, TimeUnit.SECONDS);

        assertThat(response.body())
                .isEqualTo("{\"error\":\"context deadline exceeded\",\"code\":4,"
                        + "\"message\":\"context deadline exceeded\"}");
        assertThat(response.statusCode()).isEqualTo(504);
        assertThat(cancelled).succeedsWithin(30, TimeUnit.SECONDS);
    }

    private static final class NoReads implements Reads {
        @Override
        public EtcdVersion version() {
            return EtcdVersion.UNKNOWN;
        }

        @Override
        public Future<Answer<RangeResult>> range(Caller caller, RangeRequest request) {
            throw new AssertionError("no read");
        }

        @Override
        public Future<Answer<TxnResult>> txn(Caller caller, TxnRequest request) {
            throw new AssertionError("no read");
        }
    }
}
