package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.ClusterGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.MemberListRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.StatusRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.understudy.config.HostPort;
import io.understudy.feed.FeedEndedException;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.replica.ScriptedFeeds;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a gateway with a Kafka source serves and rejects, with a scripted feed.
 *
 * <p>Tests invariant K2.
 */
@Timeout(60)
final class KafkaFedGatewayTest {

    private static final ClusterId CLUSTER = new ClusterId(0xabcdefL);
    private static final ByteString KEY = ByteString.copyFromUtf8("key");
    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String NO_VOTERS = ApiException.noVoters().text();

    private final ScriptedFeeds feeds = new ScriptedFeeds();
    private final HttpClient http = HttpClient.newHttpClient();
    private GatewayFixture fixture;

    @BeforeEach
    void start() throws Exception {
        fixture = new GatewayFixture(Gateway.start(
                GatewaySettings.of(
                        "edge", new HostPort("127.0.0.1", 0), SourceSettings.Kafka.of("127.0.0.1:1", "none")),
                UnaryOperator.identity(),
                kafka -> feeds));
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void theGatewayIsReadyAfterTheFirstHeartbeat() {
        assertThat(fixture.page("/readyz").body())
                .contains("[-]replica failed: first snapshot not complete")
                .contains("[+]heartbeats ok");
        snapshotAtTen();
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(fixture.page("/readyz").body())
                        .contains("[+]replica ok")
                        .contains("[-]staleness failed: unknown: revision of the replica not confirmed yet"));
        heartbeat(Instant.now().plusSeconds(60));
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(fixture.page("/readyz").body())
                        .contains("[-]heartbeats failed: timestamps are ")
                        .contains("[-]staleness failed: unknown: "));
        heartbeat(Instant.now());
        await().atMost(SOON)
                .untilAsserted(
                        () -> assertThat(fixture.page("/readyz?verbose").body()).isEqualTo("""
                        [+]process ok
                        [+]replica ok
                        [+]feed ok
                        [+]staleness ok
                        [+]heartbeats ok
                        ok
                        """));
        assertThat(fixture.gateway.staleness()).isGreaterThanOrEqualTo(Duration.ofSeconds(1));
        assertThat(fixture.page("/metrics").body())
                .contains("understudy_gateway_heartbeats_total")
                .doesNotContain("understudy_etcd");
    }

    @Test
    void aRejectedFeedMakesItUnreadyWithTheCause_untilASnapshot() {
        ready();
        feeds.next(consumer -> {
            throw new FeedEndedException.Unexplained("not served");
        });
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(fixture.page("/readyz").body()).contains("[-]feed failed: not served"));
        assertThat(fixture.page("/livez").statusCode()).isEqualTo(200);
        ready();
        assertThat(fixture.gateway.failure()).isNotDone();
    }

    @Test
    void theOverviewNamesTheTopicAndNoCluster() {
        await().atMost(SOON).untilAsserted(() -> {
            HttpResponse<String> answer = http.send(
                    HttpRequest.newBuilder(
                                    URI.create("http://127.0.0.1:" + fixture.gateway.restPort() + "/v1/overview"))
                            .build(),
                    BodyHandlers.ofString());
            assertThat(answer.statusCode()).isEqualTo(200);
            JsonObject overview = new JsonObject(answer.body());
            assertThat(overview.getJsonObject("gateway").getJsonObject("source"))
                    .isEqualTo(new JsonObject().put("kind", "kafka").put("name", "none"));
            assertThat(overview.getValue("core")).isNull();
        });
    }

    @Test
    void callsThatNeedAVoterFailWithOneNonRetryableError() throws Exception {
        ready();
        RangeRequest linearizable = RangeRequest.newBuilder().setKey(KEY).build();
        PutRequest put = PutRequest.newBuilder().setKey(KEY).build();
        assertNoVoters(() -> fixture.kv().range(linearizable));
        assertNoVoters(() -> fixture.kv().put(put));
        assertNoVoters(() -> fixture.kv()
                .txn(TxnRequest.newBuilder()
                        .addSuccess(RequestOp.newBuilder().setRequestPut(put))
                        .build()));
        assertNoVoters(() -> LeaseGrpc.newBlockingStub(fixture.channel())
                .withDeadlineAfter(SOON.toSeconds(), TimeUnit.SECONDS)
                .leaseGrant(LeaseGrantRequest.newBuilder().setTTL(5).build()));
        assertThat(keptAlive())
                .failsWithin(SOON)
                .withThrowableOfType(ExecutionException.class)
                .havingCause()
                .isInstanceOfSatisfying(StatusRuntimeException.class, KafkaFedGatewayTest::assertIsNoVoters);
        assertThat(post("/v3/kv/put", "{\"key\":\"a2V5\"}").body())
                .contains("\"code\":9")
                .contains(NO_VOTERS);
        HttpResponse<String> overRest = http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + fixture.gateway.restPort() + "/v1/kv/key"))
                        .build(),
                BodyHandlers.ofString());
        assertThat(overRest.statusCode()).isEqualTo(409);
        assertThat(overRest.body()).contains("FAILED_PRECONDITION").contains(NO_VOTERS);
    }

    @Test
    void answersCarryTheRevisionClusterAndStaleness() throws Exception {
        ready();
        var header = fixture.everything().getHeader();
        assertThat(header.getRevision()).isEqualTo(10);
        assertThat(header.getClusterId()).isEqualTo(CLUSTER.value());
        assertThat(header.getRaftTerm()).isZero();
        HttpResponse<String> json = post("/v3/kv/range", "{\"key\":\"a2V5\",\"serializable\":true}");
        assertThat(json.headers().firstValue("Grpc-Metadata-Understudy-Revision"))
                .hasValue("10");
        assertThat(json.headers().firstValue("Grpc-Metadata-Understudy-Staleness-Ms"))
                .hasValueSatisfying(age -> assertThat(Long.parseLong(age)).isGreaterThanOrEqualTo(1_000L));
    }

    @Test
    void theMemberListContainsOnlyThisGateway() {
        ready();
        var members = ClusterGrpc.newBlockingStub(fixture.channel())
                .withDeadlineAfter(SOON.toSeconds(), TimeUnit.SECONDS)
                .memberList(MemberListRequest.getDefaultInstance())
                .getMembersList();
        assertThat(members).singleElement().satisfies(self -> {
            assertThat(self.getName()).isEqualTo("edge");
            assertThat(new MemberId(self.getID())).isEqualTo(fixture.gateway.memberId());
            assertThat(self.getIsLearner()).isFalse();
        });
        var status = MaintenanceGrpc.newBlockingStub(fixture.channel())
                .withDeadlineAfter(SOON.toSeconds(), TimeUnit.SECONDS)
                .status(StatusRequest.getDefaultInstance());
        assertThat(status.getLeader()).isZero();
        assertThat(status.getErrorsList()).containsExactly("etcdserver: no leader");
    }

    @Test
    void watchersBeforeTheWindowAreCanceledWithTheCompactRevision() {
        ready();
        try (WatchClient watch = new WatchClient(fixture.channel())) {
            watch.send(WatchRequests.create("key", create -> create.setStartRevision(10)));
            watch.send(WatchRequests.create(
                    "key", create -> create.setStartRevision(11).setPrevKv(true)));
            commit(11);
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(watch.received().stream().map(WatchClient::comparable))
                            .contains(
                                    "rev=0 id=0 canceled compact=11",
                                    "rev=11 id=1 PUT(key=v11 c10 m11 v2 l0 before:key=v10 c10 m10 v1 l0)"));
        }
    }

    @Test
    void afterAGapWatchersAreCanceledWithTheCompactRevision() {
        ready();
        try (WatchClient watch = new WatchClient(fixture.channel())) {
            watch.send(WatchRequests.create("key"));
            await().atMost(SOON).until(() -> !watch.received().isEmpty());
            feeds.next(consumer -> {
                throw new FeedEndedException.Gap(position(10), Revision.ZERO, "the test wants it");
            });
            feeds.next(consumer -> {
                consumer.snapshotStarted(CLUSTER, new Revision(20));
                consumer.snapshotPage(KeyRange.all(), List.of(entry(20)));
                consumer.snapshotCompleted(position(20));
            });
            await().atMost(SOON)
                    .untilAsserted(() -> assertThat(watch.received().stream().map(WatchClient::comparable))
                            .contains("rev=0 id=0 canceled compact=21"));
        }
    }

    @Test
    void streamsThatRequireALeaderEndWithoutHeartbeats() {
        ready();
        try (WatchClient watch = new WatchClient(fixture.channel(), "hasleader", "true")) {
            watch.send(WatchRequests.create("key"));
            await().atMost(SOON).until(() -> !watch.received().isEmpty());
            await().atMost(SOON).untilAsserted(() -> assertThat(watch.status())
                    .isNotNull()
                    .satisfies(ended -> assertThat(ended.getDescription()).isEqualTo("etcdserver: no leader")));
        }
    }

    private void ready() {
        snapshotAtTen();
        heartbeat(Instant.now());
        fixture.awaitReady();
    }

    private void snapshotAtTen() {
        feeds.next(consumer -> {
            consumer.snapshotStarted(CLUSTER, new Revision(10));
            consumer.snapshotPage(KeyRange.all(), List.of(entry(10)));
            consumer.snapshotCompleted(position(10));
        });
    }

    private void heartbeat(Instant time) {
        feeds.next(consumer -> consumer.asOf(time));
    }

    private void commit(long revision) {
        feeds.next(consumer -> consumer.commit(
                new Commit(new Revision(revision), List.of(new Change.Put(entry(revision)))), position(revision)));
    }

    private static KeyValue entry(long revision) {
        return new KeyValue(
                KEY,
                ByteString.copyFromUtf8("v" + revision),
                new Revision(10),
                new Revision(revision),
                revision - 9,
                0);
    }

    private static Position position(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }

    private CompletableFuture<LeaseKeepAliveResponse> keptAlive() {
        CompletableFuture<LeaseKeepAliveResponse> answer = new CompletableFuture<>();
        LeaseGrpc.newStub(fixture.channel())
                .leaseKeepAlive(new StreamObserver<>() {
                    @Override
                    public void onNext(LeaseKeepAliveResponse response) {
                        answer.complete(response);
                    }

                    @Override
                    public void onError(Throwable why) {
                        answer.completeExceptionally(why);
                    }

                    @Override
                    public void onCompleted() {
                        // Then the answer was there, or never is.
                    }
                })
                .onNext(LeaseKeepAliveRequest.newBuilder().setID(1).build());
        return answer;
    }

    private HttpResponse<String> post(String path, String body) throws Exception {
        return http.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + fixture.gateway.apiPort() + path))
                        .POST(BodyPublishers.ofString(body))
                        .build(),
                BodyHandlers.ofString());
    }

    private static void assertNoVoters(ThrowingCallable call) {
        assertThatExceptionOfType(StatusRuntimeException.class)
                .isThrownBy(call)
                .satisfies(KafkaFedGatewayTest::assertIsNoVoters);
    }

    private static void assertIsNoVoters(StatusRuntimeException refusal) {
        assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.FAILED_PRECONDITION);
        assertThat(refusal.getStatus().getDescription()).isEqualTo(NO_VOTERS);
    }
}
