package io.understudy.gateway.server;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * gRPC on the wire: what well-behaved clients don't do must get a proper answer too.
 *
 * <p>Tests invariants A2, S2b.
 */
@Timeout(120)
final class ApiServerTest {

    private static final String RANGE = "/etcdserverpb.KV/Range";
    private static final byte[] GET_A = RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("a"))
            .setSerializable(true)
            .build()
            .toByteArray();

    private static TestServer server;
    private static HttpClient http2;

    @BeforeAll
    static void start() {
        server = new TestServer();
        http2 = server.vertx.createHttpClient(
                new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false));
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** What came back: the gRPC status and message, from the trailers or, without a message, from the headers. */
    record Outcome(int http, String status, String message) {
        static Outcome of(HttpClientResponse response) {
            String inHeaders = response.getHeader("grpc-status");
            return inHeaders != null
                    ? new Outcome(response.statusCode(), inHeaders, decoded(response.getHeader("grpc-message")))
                    : new Outcome(
                            response.statusCode(),
                            response.getTrailer("grpc-status"),
                            decoded(response.getTrailer("grpc-message")));
        }
    }

    private static String decoded(String percentEncoded) {
        return percentEncoded == null ? null : URLDecoder.decode(percentEncoded, StandardCharsets.UTF_8);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/etcdserverpb.KV/Put", "/etcdserverpb.KV/NoSuchMethod", "/no.such.Service/Method"})
    void unknownMethodsReturnUnimplemented(String path) {
        Outcome outcome = call(path, framed(0, GET_A));
        assertThat(outcome.http()).isEqualTo(200);
        assertThat(outcome.status()).isEqualTo("12");
        assertThat(outcome.message()).startsWith("unknown ");
        assertThat(server.answered("unknown UNIMPLEMENTED")).isPositive();
    }

    @Test
    void clientsSeeUnimplementedWithAMessage() throws InterruptedException {
        ManagedChannel channel = server.channel();
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> KVGrpc.newBlockingStub(channel)
                        .withDeadlineAfter(30, TimeUnit.SECONDS)
                        .put(PutRequest.getDefaultInstance()))
                .satisfies(refusal -> assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.UNIMPLEMENTED))
                .withMessageContaining("unknown method Put for service etcdserverpb.KV");
        channel.shutdownNow();
        assertThat(channel.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void aMalformedRequestReturnsInternalAsInEtcd() {
        Outcome outcome = call(RANGE, framed(0, new byte[] {(byte) 0xff, 1, 2}));
        assertThat(outcome.status()).isEqualTo("13");
        assertThat(outcome.message()).startsWith("grpc: error unmarshalling request");
    }

    @Test
    void aCallWithoutAMessageReturnsInternal() {
        assertThat(call(RANGE, Buffer.buffer()).status()).isEqualTo("13");
    }

    @Test
    void nothingIsInflated() {
        Outcome outcome = exchange(
                RANGE, request -> request.putHeader("grpc-encoding", "gzip").send(framed(1, GET_A)));
        assertThat(outcome.status()).isEqualTo("12");
        assertThat(outcome.message()).contains("Decompressor");
    }

    @Test
    void theServerEnforcesDeadlinesAndIgnoresLateMessages() {
        Promise<Outcome> late = Promise.promise();
        Outcome outcome = exchange(RANGE, request -> {
            Buffer message = framed(0, GET_A);
            return request.putHeader("grpc-timeout", "200m")
                    .setChunked(true)
                    .write(message.slice(0, 5))
                    .compose(sent -> request.response())
                    .onComplete(answered ->
                            request.end(message.slice(5, message.length())).onComplete(sent -> late.complete()));
        });
        assertThat(outcome.status()).isEqualTo("4");
        assertThat(TestServer.get(late.future())).isNull();
        assertThat(call(RANGE, framed(0, GET_A)).status()).isEqualTo("0");
    }

    @Test
    void requestsInFlightCompleteBeforeTheServerCloses() {
        try (TestServer closing = new TestServer()) {
            HttpClientRequest request = TestServer.get(open(closing, RANGE));
            Future<Outcome> outcome = request.response().compose(ApiServerTest::ended);
            TestServer.get(request.setChunked(true).write(framed(0, GET_A).slice(0, 5)));
            // Answered on the connection behind it, so the first call has arrived.
            assertThat(server.onLoop(() -> open(closing, "/no.such/Method")
                                    .compose(HttpClientRequest::send)
                                    .compose(ApiServerTest::ended))
                            .status())
                    .isEqualTo("12");
            Future<Void> shutdown = closing.shutdown(Duration.ofSeconds(30));
            assertThat(shutdown.isComplete()).isFalse();
            TestServer.get(request.end(framed(0, GET_A).slice(5, 5 + GET_A.length)));
            assertThat(TestServer.get(outcome).status()).isEqualTo("0");
            TestServer.get(shutdown);
        }
    }

    @Test
    void aClientThatDoesNotReadDoesNotDelayClosing() throws IOException {
        try (TestServer closing = new TestServer();
                SocketChannel client =
                        SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), closing.port()))) {
            // Netty closes a connection on which more requests than 128 wait for their answers.
            var unused = client.write(
                    ByteBuffer.wrap("GET /metrics HTTP/1.1\r\n\r\n".repeat(100).getBytes(US_ASCII)));
            assertThat(client.read(ByteBuffer.allocate(1))).isEqualTo(1);

            // Long before it counts as stalled.
            await().atMost(ServerLimits.DEFAULTS.stallTimeout().dividedBy(2))
                    .until(closing.shutdown(Duration.ofMillis(100))::isComplete);
        }
    }

    private static Outcome call(String path, Buffer body) {
        return exchange(path, request -> request.send(body));
    }

    private interface Exchange {
        Future<HttpClientResponse> send(HttpClientRequest request);
    }

    private static Outcome exchange(String path, Exchange exchange) {
        return server.onLoop(() -> open(server, path).compose(exchange::send).compose(ApiServerTest::ended));
    }

    private static Future<Outcome> ended(HttpClientResponse response) {
        return response.end().map(end -> Outcome.of(response));
    }

    private static Future<HttpClientRequest> open(TestServer target, String path) {
        return http2.request(HttpMethod.POST, target.port(), "127.0.0.1", path)
                .map(request ->
                        request.putHeader("content-type", "application/grpc").putHeader("te", "trailers"));
    }

    private static Buffer framed(int compressed, byte[] message) {
        return Buffer.buffer()
                .appendByte((byte) compressed)
                .appendInt(message.length)
                .appendBytes(message);
    }
}
