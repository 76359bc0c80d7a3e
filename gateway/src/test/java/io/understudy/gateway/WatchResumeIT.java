package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.ManagedChannel;
import io.understudy.gateway.WatchRecord.Selection;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.vocabulary.KeyRange;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watchers resume after the gateway was killed, and continue when its replica is dropped.
 *
 * <p>Tests invariants V2, V7.
 */
@Timeout(240)
final class WatchResumeIT {

    private static final Logger LOG = LoggerFactory.getLogger(WatchResumeIT.class);
    private static final int CONNECTIONS = 20;
    private static final int SHARED_STREAMS = 200;
    private static final int WATCHERS_PER_SHARED_STREAM = 20;
    private static final int OWN_STREAMS = 1_000;
    private static final int KEYS = 100;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @RegisterExtension
    static final EtcdExtension SOURCE =
            EtcdExtension.voters(3).learners(1).named("source").behindProxies();

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

    /** With a window that includes all commits, and with one that requires the source's history. */
    @ParameterizedTest
    @ValueSource(ints = {10_000, 50})
    @Tag("volume")
    void thousandsResumeAfterAKillAndTheVotersSeeTwoWatches(int window) throws Exception {
        try (UpstreamWatchers upstream = new UpstreamWatchers(SOURCE.cluster().voters());
                RestartableGateway gateway = new RestartableGateway(
                        SOURCE.cluster(),
                        settings -> settings.with(ReplicaSettings.DEFAULTS.withWindowRevisions(window)));
                WatchCrowd watchers = new WatchCrowd(gateway.port(), CONNECTIONS)) {
            gateway.current().awaitReady();
            for (int i = 0; i < SHARED_STREAMS; i++) {
                watchers.open(records(i * WATCHERS_PER_SHARED_STREAM, WATCHERS_PER_SHARED_STREAM));
            }
            for (int i = 0; i < OWN_STREAMS; i++) {
                watchers.open(records(SHARED_STREAMS * WATCHERS_PER_SHARED_STREAM + i, 1));
            }
            assertThat(watchers.size()).isEqualTo(5_000);
            watchers.awaitBegun();
            watchers.awaitDelivered("before", puts(200));

            gateway.die();
            puts(300);
            long died = System.nanoTime();
            gateway.start();
            watchers.awaitDelivered("resumed", puts(10));
            LOG.info(
                    "window={} resumed={} after={} ms upstream watchers={}",
                    window,
                    watchers.size(),
                    Duration.ofNanos(System.nanoTime() - died).toMillis(),
                    upstream.most());

            assertThat(upstream.most()).isBetween(1L, 2L);
            CommitTruth truth = CommitTruth.of(SOURCE.cluster());
            watchers.awaitDelivered("the end", truth.head());
            watchers.assertFaithful(truth, "with a window of " + window);
        }
    }

    @Test
    void watchesKeepPreviousValuesWithoutAReplica() throws Exception {
        ReplicaSettings small = new ReplicaSettings(1_000, 1 << 20, 1 << 20, Duration.ofSeconds(1));
        try (RestartableGateway gateway = new RestartableGateway(SOURCE.cluster(), settings -> settings.with(small));
                WatchCrowd watchers = new WatchCrowd(gateway.port(), 2)) {
            gateway.current().awaitReady();
            for (boolean previous : List.of(true, false)) {
                KeyRange range = KeyRange.prefix(ByteString.copyFromUtf8("k/"));
                watchers.open(List.of(
                        new WatchRecord(new Selection(range, previous, false, false), 0),
                        new WatchRecord(new Selection(range, true, false, false), 0)));
            }
            watchers.awaitBegun();
            puts(20);
            for (int i = 0; i < 40; i++) {
                put("large/" + i, 64 << 10);
            }
            await().atMost(PATIENCE).until(() -> gateway.current()
                    .page("/metrics")
                    .body()
                    .contains("understudy_gateway_replica_ready{process=\"gateway\"} 0.0"));
            watchers.requestProgress();
            watchers.awaitDelivered("without a replica", puts(200));
            CommitTruth truth = CommitTruth.of(SOURCE.cluster());
            watchers.awaitDelivered("the end", truth.head());
            watchers.assertFaithful(truth, "");
        } finally {
            etcd().deleteRange(DeleteRangeRequest.newBuilder()
                    .setKey(ByteString.copyFromUtf8("large/"))
                    .setRangeEnd(ByteString.copyFromUtf8("large0"))
                    .build());
        }
    }

    private static List<WatchRecord> records(int first, int count) {
        List<WatchRecord> records = new ArrayList<>();
        for (int i = first; i < first + count; i++) {
            KeyRange range = KeyRange.single(ByteString.copyFromUtf8("k/" + i % KEYS));
            records.add(new WatchRecord(new Selection(range, i % 7 == 0, false, false), 0));
        }
        return records;
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
}
