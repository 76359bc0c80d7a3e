package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Watchers that start at commits outside the log: before the window, compacted, or beyond a gap.
 *
 * <p>Tests invariants V2, V3.
 */
@Timeout(120)
final class WatchPastIT {

    private static final int KEYS = 10;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source").behindProxies();

    private ManagedChannel direct;

    @BeforeEach
    void connect() {
        URI voter = SOURCE.cluster().leader().directClientUrl();
        direct = GatewayFixture.channel(voter.getHost(), voter.getPort());
    }

    @AfterEach
    void disconnect() {
        direct.shutdownNow();
    }

    @Test
    void aStartBeforeTheWindowIsServedAndACompactedOneCanceledAsByEtcd() throws Exception {
        try (GatewayFixture fixture = new GatewayFixture(
                GatewayFixture.settings(SOURCE.cluster()).with(ReplicaSettings.DEFAULTS.withWindowRevisions(20)))) {
            fixture.awaitReady();
            long first = puts(1);
            long last = puts(200);
            fixture.awaitRevision(last);
            long compacted = first + 100;
            etcd().compact(CompactionRequest.newBuilder()
                    .setRevision(compacted)
                    .setPhysical(true)
                    .build());
            for (long start : List.of(compacted - 50, compacted - 1, compacted, compacted + 1, last, last + 1)) {
                try (WatchClient ofEtcd = new WatchClient(direct);
                        WatchClient ofGateway = new WatchClient(fixture.channel())) {
                    for (WatchClient watch : List.of(ofEtcd, ofGateway)) {
                        watch.send(WatchRequests.createPrefix(
                                "k/", create -> create.setStartRevision(start).setPrevKv(true)));
                    }
                    await().atMost(PATIENCE).untilAsserted(() -> {
                        assertThat(ofGateway.eventsOf(0))
                                .as("from revision %d, compacted at %d", start, compacted)
                                .isEqualTo(ofEtcd.eventsOf(0))
                                .hasSize(start < compacted ? 0 : Math.toIntExact(last + 1 - start));
                        assertThat(cancels(ofGateway))
                                .isEqualTo(cancels(ofEtcd))
                                .hasSize(start < compacted ? 1 : 0);
                    });
                }
            }
        }
    }

    @Test
    void afterAGapOnlyWatchersThatMissCommitsAreCanceled() throws Exception {
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()));
                WatchClient misses = new WatchClient(fixture.channel());
                WatchClient continues = new WatchClient(fixture.channel())) {
            fixture.awaitReady();
            long seen = puts(5);
            fixture.awaitRevision(seen);
            long compacted = seen + 50;
            misses.send(WatchRequests.createPrefix("k/", create -> {}));
            continues.send(WatchRequests.createPrefix("k/", create -> create.setStartRevision(compacted)));
            await().atMost(PATIENCE)
                    .until(() -> !misses.received().isEmpty()
                            && !continues.received().isEmpty());

            SOURCE.cluster().members().forEach(member -> member.clientProxy().cut());
            puts(60);
            etcd().compact(CompactionRequest.newBuilder()
                    .setRevision(compacted)
                    .setPhysical(true)
                    .build());
            SOURCE.cluster().heal();
            long last = puts(5);

            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(cancels(misses)).containsExactly(canceled(compacted));
                assertThat(continues.eventsOf(0)).hasSize(Math.toIntExact(last + 1 - compacted));
            });
            assertThat(misses.eventsOf(0)).isEmpty();
            fixture.awaitRevision(last);
            assertThat(fixture.everything().getKvsList())
                    .isEqualTo(etcd().range(GatewayFixture.everythingRequest()).getKvsList());
        }
    }

    /** A new stub for each call, as its deadline starts here. */
    private KVBlockingStub etcd() {
        return GatewayFixture.kv(direct);
    }

    /** Returns the revision of the last put. */
    private long puts(int count) {
        long last = 0;
        for (int i = 0; i < count; i++) {
            last = put("k/" + i % KEYS, 10);
        }
        return last;
    }

    private long put(String key, int bytes) {
        return etcd().put(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setValue(ByteString.copyFrom(new byte[bytes]))
                        .build())
                .getHeader()
                .getRevision();
    }

    private static List<String> cancels(WatchClient watch) {
        return watch.received().stream()
                .filter(WatchResponse::getCanceled)
                .map(WatchClient::comparable)
                .toList();
    }

    private static String canceled(long compactRevision) {
        return "rev=0 id=0 canceled compact=" + compactRevision;
    }
}
