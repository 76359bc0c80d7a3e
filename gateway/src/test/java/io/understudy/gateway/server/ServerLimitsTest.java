package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Grpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The limits by which Vert.x would break etcd's clients: each is where etcd has it, or out of the way.
 *
 * <p>Tests invariant S1.
 */
@Timeout(120)
final class ServerLimitsTest {

    private static final String RANGE = "etcdserverpb.KV/Range";
    private static final RangeRequest GET_A = request(ByteString.copyFromUtf8("a"));
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static TestServer server;
    private ManagedChannel channel;

    @BeforeAll
    static void start() {
        server = new TestServer();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void connect() {
        channel = server.channel();
    }

    @AfterEach
    void disconnect() throws InterruptedException {
        channel.shutdownNow();
        assertThat(channel.awaitTermination(30, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void messagesAreLimitedToTwoMebibytesAsInEtcd() {
        assertThat(get(request(ByteString.copyFrom(new byte[(2 << 20) - 100]))).getCount())
                .isZero();
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(() -> get(request(ByteString.copyFrom(new byte[2 << 20]))))
                .satisfies(refusal -> {
                    assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED);
                    assertThat(refusal.getStatus().getDescription())
                            .matches("grpc: received message larger than max \\(2097\\d+ vs\\. 2097152\\)");
                });
        assertThat(get(GET_A).getCount()).isEqualTo(1);
    }

    @Test
    void oneConnectionServesAThousandConcurrentStreams() {
        AtomicInteger answers = new AtomicInteger();
        List<ClientCall<RangeRequest, RangeResponse>> open = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            open.add(open(answers));
        }
        // With a limit below the number of open streams this one would wait for its turn, and never get it.
        assertThat(get(GET_A).getCount()).isEqualTo(1);
        open.forEach(call -> {
            call.sendMessage(GET_A);
            call.halfClose();
        });
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(answers).hasValue(1_000));
    }

    @Test
    void aThousandCancelsInABurstDoNotCloseTheConnection() {
        Object connection = connection();
        int before = server.answered(RANGE + " CANCELLED");
        List<ClientCall<RangeRequest, RangeResponse>> open = new ArrayList<>();
        for (int i = 0; i < 1_000; i++) {
            open.add(open(new AtomicInteger()));
        }
        // Answered on the connection behind them, so all of them have arrived.
        assertThat(get(GET_A).getCount()).isEqualTo(1);
        open.forEach(call -> call.cancel("in a burst", null));
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.answered(RANGE + " CANCELLED"))
                .isEqualTo(before + 1_000));
        assertThat(connection()).isEqualTo(connection);
    }

    @Test
    void headersMayHave32Kibibytes() {
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER), "x".repeat(32 << 10));
        RangeResponse response = KVGrpc.newBlockingStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
                .withDeadlineAfter(30, TimeUnit.SECONDS)
                .range(GET_A);
        assertThat(response.getCount()).isEqualTo(1);
    }

    @Test
    void theConnectionAnnouncesTheRaisedLimits() {
        var client = server.vertx.createHttpClient(
                new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false));
        var settings = server.onLoop(() -> client.request(HttpMethod.GET, server.port(), "127.0.0.1", "/version")
                        .compose(request -> request.send().map(response -> request.connection())))
                .remoteSettings();
        assertThat(settings.getMaxConcurrentStreams()).isEqualTo(100_000);
        assertThat(settings.getInitialWindowSize()).isEqualTo(1 << 20);
        assertThat(settings.getMaxHeaderListSize()).isEqualTo(256 << 10);
        // Keeps the client reachable: it would close its connections.
        assertThat(server.onLoop(client::close)).isNull();
    }

    /** A call of which only the headers have been sent. */
    private ClientCall<RangeRequest, RangeResponse> open(AtomicInteger answers) {
        ClientCall<RangeRequest, RangeResponse> call = channel.newCall(KVGrpc.getRangeMethod(), CallOptions.DEFAULT);
        call.start(
                new ClientCall.Listener<>() {
                    @Override
                    public void onClose(Status status, Metadata trailers) {
                        if (status.isOk()) {
                            answers.incrementAndGet();
                        }
                    }
                },
                new Metadata());
        call.request(2);
        return call;
    }

    /** This side's address of the connection that the channel uses. */
    private Object connection() {
        ClientCall<RangeRequest, RangeResponse> call =
                channel.newCall(KVGrpc.getRangeMethod(), CallOptions.DEFAULT.withDeadlineAfter(30, TimeUnit.SECONDS));
        assertThat(ClientCalls.blockingUnaryCall(call, GET_A).getCount()).isEqualTo(1);
        return call.getAttributes().get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR);
    }

    private RangeResponse get(RangeRequest request) {
        return KVGrpc.newBlockingStub(channel)
                .withDeadlineAfter(30, TimeUnit.SECONDS)
                .range(request);
    }

    private static RangeRequest request(ByteString key) {
        return RangeRequest.newBuilder().setKey(key).setSerializable(true).build();
    }
}
