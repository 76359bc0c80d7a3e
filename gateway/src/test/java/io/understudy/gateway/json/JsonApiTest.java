package io.understudy.gateway.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamedCall.StreamedRequests;
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
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
final class JsonApiTest {

    private static final String PUT = "{\"key\":\"YQ==\"}";

    private final ConnectionLimit limit = ConnectionLimit.of(100, 1);
    private final Vertx vertx = limit.vertx(new VertxOptions());
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final CompletableFuture<Void> cancelled = new CompletableFuture<>();

    @AfterEach
    void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    /** As a write that waits for the next leader. */
    @Test
    void aCallWithoutAnAnswerEndsAtItsClientsDeadline() throws Exception {
        Future<byte[]> held = Promise.<byte[]>promise().future();
        int port = serve(
                (method, caller, request, whenGone) -> {
                    whenGone.accept(() -> cancelled.complete(null));
                    return held;
                },
                (method, caller, http, requests, taker) -> {
                    throw new AssertionError("no stream");
                });

        HttpResponse<String> response =
                post(port, "/v3/kv/put", PUT, "Grpc-Timeout", "100m").get(30, TimeUnit.SECONDS);

        assertThat(response.body())
                .isEqualTo("{\"error\":\"context deadline exceeded\",\"code\":4,"
                        + "\"message\":\"context deadline exceeded\"}");
        assertThat(response.statusCode()).isEqualTo(504);
        assertThat(cancelled).succeedsWithin(30, TimeUnit.SECONDS);
        // As long as the call has it.
        assertThat(held()).isEqualTo(PUT.length());
    }

    /** Instead of granting the permission of the default value. */
    @Test
    void anUnknownNameOfAnEnumIsRejected() throws Exception {
        int port = serve(
                (method, caller, request, whenGone) -> {
                    throw new AssertionError("no call");
                },
                (method, caller, http, requests, taker) -> {
                    throw new AssertionError("no stream");
                });

        HttpResponse<String> response = post(
                        port, "/v3/auth/role/grant", "{\"name\":\"r\",\"perm\":{\"permType\":\"write\"}}")
                .get(30, TimeUnit.SECONDS);

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.body()).contains("\"code\":3,");
    }

    /** Small parts take longest: a microsecond each. */
    @Test
    void aLargeBodyOfAStreamIsNotParsedOnAnEventLoop() throws Exception {
        CompletableFuture<Void> begun = new CompletableFuture<>();
        int port = serve(
                (method, caller, request, whenGone) -> {
                    throw new AssertionError("no call");
                },
                (method, caller, http, requests, taker) -> {
                    begun.complete(null);
                    throw new ApiException(Status.Code.UNAVAILABLE, "enough");
                });
        Set<String> parsing = new HashSet<>();

        var response = post(port, "/v3/watch", "{\"create_request\":{\"filters\":[0" + ",0".repeat(1_000_000) + "]}}");
        while (!begun.isDone() && !response.isDone()) {
            Thread.getAllStackTraces().forEach((thread, frames) -> {
                if (Stream.of(frames)
                        .anyMatch(frame -> frame.getClassName().startsWith(MessageReader.class.getName()))) {
                    parsing.add(thread.getName());
                }
            });
        }

        assertThat(response.get(30, TimeUnit.SECONDS).body()).contains("enough");
        assertThat(parsing).isNotEmpty().allMatch(name -> name.startsWith("understudy-json"));
    }

    @Test
    void emptyMessagesThatWaitAreHeld() throws Exception {
        CompletableFuture<StreamedRequests> waiting = new CompletableFuture<>();
        int port = serve(
                (method, caller, request, whenGone) -> {
                    throw new AssertionError("no call");
                },
                (method, caller, http, requests, taker) -> {
                    // Counted before the call begins.
                    assertThat(held()).isGreaterThan(600_000);
                    waiting.complete(requests);
                    throw new ApiException(Status.Code.UNAVAILABLE, "enough");
                });

        var response = post(port, "/v3/watch", "{}".repeat(10_000));

        assertThat(response.get(30, TimeUnit.SECONDS).body()).contains("enough");
        assertThat(waiting.get().bytes()).isGreaterThan(600_000);
    }

    private double held() {
        return meters.get("understudy.gateway.requests.held").gauge().value();
    }

    private static CompletableFuture<HttpResponse<String>> post(int port, String path, String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
                .POST(BodyPublishers.ofString(body));
        if (headers.length > 0) {
            request.headers(headers);
        }
        return HttpClient.newHttpClient().sendAsync(request.build(), BodyHandlers.ofString());
    }

    /** By one event loop. */
    private int serve(JsonApi.OtherCalls others, JsonApi.StreamCalls streams) throws Exception {
        JsonApi api =
                new JsonApi(vertx, new NoReads(), others, streams, () -> JsonForm.GRPC_GATEWAY_1, 2 << 20, method ->
                        (code, nanos) -> {});
        ApiServer server = new ApiServer(
                vertx,
                new HostPort("127.0.0.1", 0),
                null,
                Unhurried.LIMITS,
                limit,
                new Loads(Unhurried.LIMITS.load(), meters),
                List.of(),
                method -> (code, nanos) -> {},
                api,
                page -> page.answer(404, "text/plain", ""));
        return server.listen(1).toCompletionStage().toCompletableFuture().get(30, TimeUnit.SECONDS);
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
