package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.ManagedChannel;
import io.understudy.config.Binder;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.gateway.verify.Verifier.VerifySettings;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Reads and the condition that the gateway reports while its replica is dropped, until it is rebuilt.
 *
 * <p>Tests invariants R5, R6.
 */
@Timeout(180)
final class ReplicaRebuildIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).learners(1).named("source");

    private static final ByteString LARGE = ByteString.copyFrom(new byte[100_000]);

    private ManagedChannel direct;

    @BeforeEach
    void connect() {
        URI voter = SOURCE.cluster().members().get(0).clientUrl();
        direct = GatewayFixture.channel(voter.getHost(), voter.getPort());
        for (int i = 0; i < 300; i++) {
            put(key(i), ByteString.copyFromUtf8("value"));
        }
    }

    @AfterEach
    void close() {
        try {
            emptyTheSource();
        } finally {
            direct.shutdownNow();
        }
    }

    @Test
    void aDivergedReplicaIsDetectedAndRebuilt() throws Exception {
        TamperedFeeds feeds = new TamperedFeeds(key(7), key(8));
        GatewaySettings settings =
                GatewayFixture.settings(SOURCE.cluster()).with(new VerifySettings(Duration.ofMillis(300), 4 << 20));
        try (GatewayFixture fixture = new GatewayFixture(
                Gateway.start(settings, UnaryOperator.identity(), original -> feeds.between(original)))) {
            fixture.awaitReady();
            put(key(7), ByteString.copyFromUtf8("changed"));
            assertThat(etcd().deleteRange(DeleteRangeRequest.newBuilder()
                                    .setKey(key(8))
                                    .build())
                            .getDeleted())
                    .isEqualTo(1);
            // The first feed hid one key, or both.
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(fixture.page("/readyz").body())
                            .contains("[-]verification failed: replica differs from the source")
                            .contains("see the log")
                            .doesNotContain("k/0007"));
            feeds.letRebuild();
            fixture.awaitReady();
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            fixture.page("/metrics").body())
                    .contains("understudy_gateway_replica_ready{process=\"gateway\"} 1.0")
                    .contains("understudy_gateway_replica_drops_total{process=\"gateway\"} 1.0")
                    .contains("understudy_gateway_verify_differences_total{process=\"gateway\",side=\"source\"} 0.0")
                    .doesNotContain(
                            "understudy_gateway_verify_differences_total{process=\"gateway\",side=\"replica\"} 0.0"));
            assertThat(fixture.everything().getKvsList()).isEqualTo(everything());
        }
    }

    @Test
    void aReplicaIsRebuiltPastACommitAboveTheLimit() throws Exception {
        TamperedFeeds feeds = new TamperedFeeds(key(7));
        GatewaySettings settings = GatewayFixture.settings(SOURCE.cluster())
                .with(new VerifySettings(Duration.ofMillis(300), 4 << 20))
                .with(Binder.with(EtcdFeedOptions.DEFAULTS, "maxCommitBytes", 1_000L));
        try (GatewayFixture fixture = new GatewayFixture(
                Gateway.start(settings, UnaryOperator.identity(), original -> feeds.between(original)))) {
            fixture.awaitReady();
            put(key(7), ByteString.copyFromUtf8("changed"));
            await().atMost(PATIENCE).until(feeds::isRebuilding);
            emptyTheSource();
            put(key(1), ByteString.copyFromUtf8("after"));
            feeds.letRebuild();
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(fixture.page("/metrics").body())
                            .contains("understudy_gateway_replica_ready{process=\"gateway\"} 1.0"));
            fixture.awaitReady();
            assertThat(fixture.everything().getKvsList()).isEqualTo(everything());
        }
    }

    @Test
    void aDifferenceIsNoLongerReportedOnceTheStateIsDroppedForItsSize() throws Exception {
        TamperedFeeds feeds = new TamperedFeeds(key(7));
        GatewaySettings settings = GatewayFixture.settings(SOURCE.cluster())
                .with(new ReplicaSettings(1_000, 1 << 20, 1 << 20, Duration.ofMinutes(10)))
                .with(new VerifySettings(Duration.ofMillis(300), 4 << 20));
        try (GatewayFixture fixture = new GatewayFixture(
                Gateway.start(settings, UnaryOperator.identity(), original -> feeds.between(original)))) {
            fixture.awaitReady();
            put(key(7), ByteString.copyFromUtf8("changed"));
            fixture.awaitNotReady();
            for (int i = 0; i < 15; i++) {
                put(key(i), LARGE);
            }
            feeds.letRebuild();
            fixture.awaitReady();
            assertThat(fixture.page("/readyz?verbose").body())
                    .contains("[+]verification ok")
                    .contains("[+]replica ok: dropped; reads are proxied to the source: memory limit exceeded");
        }
    }

    @Test
    void pastTheCeilingReadsArePassedThrough() throws Exception {
        ReplicaSettings small = new ReplicaSettings(1_000, 1 << 20, 1 << 20, Duration.ofMillis(500));
        GatewaySettings settings = GatewayFixture.settings(SOURCE.cluster()).with(small);
        try (GatewayFixture fixture = new GatewayFixture(settings)) {
            fixture.awaitReady();
            for (int i = 0; i < 15; i++) {
                put(key(i), LARGE);
            }
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(fixture.page("/metrics").body())
                            .contains("understudy_gateway_replica_ready{process=\"gateway\"} 0.0"));
            assertThat(fixture.everything().getKvsList()).isEqualTo(everything());
            assertThat(fixture.page("/readyz").statusCode()).isEqualTo(200);
            for (int i = 0; i < 15; i++) {
                put(key(i), ByteString.EMPTY);
            }
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(fixture.page("/metrics").body())
                            .contains("understudy_gateway_replica_ready{process=\"gateway\"} 1.0"));
            assertThat(fixture.everything().getKvsList()).isEqualTo(everything());
        }
    }

    private void emptyTheSource() {
        long unused = etcd().deleteRange(DeleteRangeRequest.newBuilder()
                        .setKey(GatewayFixture.ZERO)
                        .setRangeEnd(GatewayFixture.ZERO)
                        .build())
                .getDeleted();
    }

    private KVBlockingStub etcd() {
        return GatewayFixture.kv(direct);
    }

    private List<KeyValue> everything() {
        return etcd().range(GatewayFixture.everythingRequest()).getKvsList();
    }

    private void put(ByteString key, ByteString value) {
        assertThat(etcd().put(PutRequest.newBuilder()
                                .setKey(key)
                                .setValue(value)
                                .build())
                        .hasHeader())
                .isTrue();
    }

    private static ByteString key(int number) {
        return ByteString.copyFromUtf8(String.format("k/%04d", number));
    }
}
