package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

import com.google.common.util.concurrent.Uninterruptibles;
import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.understudy.config.HostPort;
import io.understudy.gateway.read.ReadSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Reads that the source has to answer, while it is not known yet, compacts, or answers a lot. The gateway has no
 * replica.
 *
 * <p>Tests invariants A1c, S3.
 */
@Timeout(120)
final class PassThroughIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final ByteString KEY = ByteString.copyFromUtf8("key");
    private static final RangeRequest GET =
            RangeRequest.newBuilder().setKey(KEY).setSerializable(true).build();
    private static final RangeRequest MANY = RangeRequest.newBuilder()
            .setKey(ByteString.copyFromUtf8("many/"))
            .setRangeEnd(ByteString.copyFromUtf8("many0"))
            .setSerializable(true)
            .build();
    private static final TxnRequest READ = TxnRequest.newBuilder()
            .addSuccess(RequestOp.newBuilder().setRequestRange(GET))
            .build();

    private final HttpClient http = HttpClient.newHttpClient();
    private ManagedChannel direct;
    private MemberFront front;
    private GatewayFixture fixture;

    @BeforeEach
    void start() throws Exception {
        EtcdMember member = SOURCE.cluster().members().get(0);
        direct = GatewayFixture.channel(
                member.clientUrl().getHost(), member.clientUrl().getPort());
        front = new MemberFront(member);
        ReadSettings usual = ReadSettings.DEFAULTS;
        fixture = new GatewayFixture(GatewaySettings.of("test", new HostPort("127.0.0.1", 0), front.source())
                .with(new ReadSettings(
                        Duration.ofSeconds(2),
                        usual.freshnessTimeout(),
                        usual.roundTimeout(),
                        usual.asOfInterval(),
                        usual.maxWaiting(),
                        usual.maxPassedThrough(),
                        4 << 20)));
    }

    @AfterEach
    void stop() {
        fixture.close();
        front.close();
        direct.shutdownNow();
    }

    @Test
    void responsesWaitUntilTheClusterIdIsKnown() throws Exception {
        put("value");
        CompletableFuture<Void> requested = new CompletableFuture<>();
        CompletableFuture<RangeResponse> answer = new CompletableFuture<>();
        front.before = request -> requested.complete(null);
        Thread client = new Thread(() -> answer.complete(fixture.kv().range(GET)));
        client.start();
        requested.get(30, TimeUnit.SECONDS);
        assertThat(answer).isNotDone();
        front.known();
        assertThat(answer.get(30, TimeUnit.SECONDS).getKvs(0).getValue()).isEqualTo(ByteString.copyFromUtf8("value"));
    }

    @Test
    void transactionsAreReadAtANewerRevisionAfterACompaction() {
        put("before");
        front.known();
        compactUnderWay(2);
        TxnResponse response = fixture.kv().txn(READ);
        assertThat(response.getResponses(0).getResponseRange().getKvs(0).getValue())
                .isEqualTo(ByteString.copyFromUtf8("after"));
    }

    @Test
    void aRangeOfTwoPagesIsReadAtANewerRevisionAfterACompaction() {
        for (int i = 0; i < 1_100; i++) {
            put(ByteString.copyFromUtf8("many/%04d".formatted(i)), KEY);
        }
        front.known();
        AtomicInteger requested = compactUnderWay(2);
        RangeResponse ours = fixture.kv().range(MANY);
        RangeResponse theirs = etcd().range(MANY);
        assertThat(ours.getKvsList()).isEqualTo(theirs.getKvsList());
        assertThat(ours.getHeader().getRevision()).isEqualTo(theirs.getHeader().getRevision());
        assertThat(ours.getCount()).isEqualTo(theirs.getCount());
        assertThat(requested).hasValue(3);
    }

    @Test
    void retriesEndWhileTheSourceKeepsCompacting() {
        put("before");
        front.known();
        AtomicInteger requested = compactUnderWay(Integer.MAX_VALUE);
        StatusRuntimeException refusal = catchThrowableOfType(
                StatusRuntimeException.class, () -> fixture.kv().txn(READ));
        assertThat(refusal.getStatus().getDescription()).isEqualTo("etcdserver: request timed out");
        assertThat(requested).hasValue(3);
    }

    @Test
    void aCompactedRevisionThatTheClientNamedIsItsOwnFault() {
        put("before");
        put("after");
        front.known();
        long last = compact();
        TxnRequest past = TxnRequest.newBuilder()
                .addSuccess(
                        RequestOp.newBuilder().setRequestRange(GET.toBuilder().setRevision(last - 1)))
                .build();
        StatusRuntimeException refusal = catchThrowableOfType(
                StatusRuntimeException.class, () -> fixture.kv().txn(past));
        assertThat(refusal.getStatus().getDescription())
                .isEqualTo("etcdserver: mvcc: required revision has been compacted");
    }

    @Test
    void unreadResponsesCountAgainstTheLimitUntilTheClientIsGone() {
        front.known();
        for (int i = 0; i < 5; i++) {
            put(ByteString.copyFromUtf8("large/" + i), ByteString.copyFrom(new byte[1 << 20]));
        }
        ManagedChannel other = GatewayFixture.channel("127.0.0.1", fixture.gateway.apiPort());
        try {
            ClientCall<RangeRequest, RangeResponse> slow = other.newCall(KVGrpc.getRangeMethod(), CallOptions.DEFAULT);
            slow.start(new ClientCall.Listener<>() {}, new Metadata());
            slow.sendMessage(GatewayFixture.everythingRequest());
            slow.halfClose();
            await().atMost(PATIENCE).until(() -> held() > 5 << 20);

            StatusRuntimeException refusal = catchThrowableOfType(
                    StatusRuntimeException.class, () -> fixture.kv().range(GET));
            assertThat(refusal.getStatus().getDescription()).isEqualTo("etcdserver: too many requests");

            slow.cancel("tired of it", null);
            assertThat(fixture.kv().range(GET).hasHeader()).isTrue();
            assertThat(fixture.etcdctl("get", "large/", "--prefix", "--consistency=s", "--keys-only"))
                    .contains("large/4");
            await().atMost(PATIENCE).until(() -> held() == 0);
        } finally {
            other.shutdownNow();
        }
    }

    @Test
    void rangesOfAClientThatHasGoneAreNotRead() throws Exception {
        front.known();
        AtomicInteger reads = new AtomicInteger();
        CountDownLatch gone = new CountDownLatch(1);
        front.before = request -> {
            if (request.getKey().equals(KEY)) {
                reads.incrementAndGet();
                Uninterruptibles.awaitUninterruptibly(gone);
            }
        };
        ManagedChannel other = GatewayFixture.channel("127.0.0.1", fixture.gateway.apiPort());
        try {
            for (int i = 0; i < 25; i++) {
                var unused = KVGrpc.newFutureStub(other)
                        .range(GET.toBuilder().setRangeEnd(GatewayFixture.ZERO).build());
            }
            await().atMost(PATIENCE).until(() -> reads.get() == 1 && inFlight() >= 25);
            other.shutdownNow();
            // The page with the metrics is one itself.
            await().atMost(PATIENCE).until(() -> inFlight() <= 1);
        } finally {
            other.shutdownNow();
            gone.countDown();
        }
        await().atMost(PATIENCE).until(() -> held() == 0);
        assertThat(reads).hasValue(1);
    }

    @Test
    void responsesOfEveryProtocolAreReleasedFromTheLimit() throws Exception {
        front.known();
        put("value");
        for (int i = 0; i < 20; i++) {
            assertThat(post("{\"key\":\"a2V5\",\"serializable\":true}")).contains("\"kvs\"");
            assertThat(fixture.kv().txn(READ).getSucceeded()).isTrue();
            assertThat(rest()).contains("value");
        }
        await().atMost(PATIENCE).until(() -> held() == 0);
    }

    private String post(String body) throws Exception {
        return http(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + fixture.gateway.apiPort() + "/v3/kv/range"))
                .POST(BodyPublishers.ofString(body)));
    }

    private String rest() throws Exception {
        return http(HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + fixture.gateway.restPort() + "/v1/kv/key?consistency=serializable")));
    }

    private String http(HttpRequest.Builder request) throws Exception {
        return http.send(request.timeout(PATIENCE).build(), BodyHandlers.ofString())
                .body();
    }

    private double held() {
        return metric("understudy_gateway_passedthrough_bytes");
    }

    private double inFlight() {
        return metric("understudy_gateway_requests_inflight");
    }

    private double metric(String name) {
        return Scrape.sum(URI.create("http://127.0.0.1:" + fixture.gateway.apiPort()), name);
    }

    /** Compacts so many times before a range at a fixed revision; counts those ranges. */
    private AtomicInteger compactUnderWay(int times) {
        AtomicInteger pinned = new AtomicInteger();
        front.before = request -> {
            // The feed reads pages of all keys.
            boolean ours = request.getKey().equals(KEY) || request.getRangeEnd().equals(MANY.getRangeEnd());
            if (ours && request.getRevision() > 0 && pinned.getAndIncrement() < times) {
                put("after");
                assertThat(compact()).isPositive();
            }
        };
        return pinned;
    }

    private long compact() {
        long last = etcd().range(GET).getHeader().getRevision();
        return etcd().compact(CompactionRequest.newBuilder().setRevision(last).build())
                .getHeader()
                .getRevision();
    }

    private void put(String value) {
        put(KEY, ByteString.copyFromUtf8(value));
    }

    private void put(ByteString key, ByteString value) {
        assertThat(etcd().put(PutRequest.newBuilder()
                                .setKey(key)
                                .setValue(value)
                                .build())
                        .hasHeader())
                .isTrue();
    }

    private KVBlockingStub etcd() {
        return GatewayFixture.kv(direct);
    }
}
