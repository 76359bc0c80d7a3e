package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Channel;
import io.grpc.ManagedChannel;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** History is compacted away while the gateway is cut off: it serves what it has, then resynchronises. */
@Timeout(180)
final class CompactionIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source").behindProxies();

    @Test
    void afterAGapTheReplicaEqualsTheSourceAgain() throws Exception {
        EtcdMember member = SOURCE.cluster().members().get(0);
        ManagedChannel direct = GatewayFixture.channel(
                member.directClientUrl().getHost(), member.directClientUrl().getPort());
        KVBlockingStub etcd = GatewayFixture.kv(direct);
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            for (int i = 0; i < 100; i++) {
                put(etcd, i, "before");
            }
            fixture.awaitReady();
            fixture.awaitRevision(101);
            member.clientProxy().cut();
            put(etcd, 7, "changed");
            put(etcd, 200, "new");
            long last = etcd.deleteRange(
                            DeleteRangeRequest.newBuilder().setKey(key(8)).build())
                    .getHeader()
                    .getRevision();
            assertThat(etcd.compact(CompactionRequest.newBuilder()
                                    .setRevision(last)
                                    .setPhysical(true)
                                    .build())
                            .hasHeader())
                    .isTrue();
            assertThat(fixture.everything().getHeader().getRevision()).isEqualTo(101);
            member.clientProxy().heal();
            await().atMost(PATIENCE).untilAsserted(() -> {
                RangeResponse source = GatewayFixture.kv(direct).range(GatewayFixture.everythingRequest());
                RangeResponse gateway = fixture.everything();
                assertThat(gateway.getHeader().getRevision())
                        .isEqualTo(source.getHeader().getRevision());
                assertThat(gateway.getKvsList()).isEqualTo(source.getKvsList());
            });
            assertThat(fixture.page("/metrics").body())
                    .contains("understudy_gateway_feed_resyncs_total{process=\"gateway\"} 1.0");
            fixture.awaitReady();
        } finally {
            direct.shutdownNow();
        }
    }

    /** A read in a revision, in a transaction, and a watch. */
    @Test
    void compactedRevisionsReturnTheErrorOfTheSource() throws Exception {
        EtcdMember member = SOURCE.cluster().members().get(0);
        ManagedChannel direct = GatewayFixture.channel(
                member.directClientUrl().getHost(), member.directClientUrl().getPort());
        KVBlockingStub etcd = GatewayFixture.kv(direct);
        try (GatewayFixture fixture = new GatewayFixture(
                GatewayFixture.settings(SOURCE.cluster()).with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)))) {
            fixture.awaitReady();
            List<Long> revisions = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                revisions.add(etcd.put(PutRequest.newBuilder()
                                .setKey(key(1))
                                .setValue(ByteString.copyFromUtf8("v" + i))
                                .build())
                        .getHeader()
                        .getRevision());
            }
            fixture.awaitRevision(revisions.get(3));
            assertThat(read(fixture.kv(), revisions.get(0))).isEqualTo("v0");

            assertThat(fixture.etcdctl("compaction", revisions.get(1).toString()))
                    .contains("compacted revision");
            assertCompacted(fixture, revisions.get(0), revisions.get(1));
            assertThat(read(fixture.kv(), revisions.get(1))).isEqualTo("v1");

            assertThat(etcd.compact(CompactionRequest.newBuilder()
                                    .setRevision(revisions.get(3))
                                    .build())
                            .hasHeader())
                    .isTrue();
            await().atMost(PATIENCE).untilAsserted(() -> assertCompacted(fixture, revisions.get(2), revisions.get(3)));
            assertThat(read(fixture.kv(), revisions.get(3))).isEqualTo("v3");
            // The commit is there, what it replaced is not.
            assertThat(firstWithPrevious(fixture.channel(), revisions.get(3)))
                    .isEqualTo(firstWithPrevious(direct, revisions.get(3)))
                    .doesNotContain("before:");
        } finally {
            direct.shutdownNow();
        }
    }

    private static String firstWithPrevious(Channel channel, long revision) {
        try (WatchClient watch = new WatchClient(channel)) {
            watch.send(WatchRequests.createPrefix(
                    "k/1", create -> create.setPrevKv(true).setStartRevision(revision)));
            await().atMost(PATIENCE).until(() -> !watch.eventsOf(0).isEmpty());
            return watch.eventsOf(0).get(0);
        }
    }

    private static void assertCompacted(GatewayFixture fixture, long revision, long compactRevision) {
        assertThatThrownBy(() -> read(fixture.kv(), revision))
                .hasMessage("OUT_OF_RANGE: etcdserver: mvcc: required revision has been compacted");
        assertThatThrownBy(() -> fixture.kv()
                        .txn(TxnRequest.newBuilder()
                                .addSuccess(RequestOp.newBuilder().setRequestRange(range(revision)))
                                .build()))
                .hasMessage("OUT_OF_RANGE: etcdserver: mvcc: required revision has been compacted");
        try (WatchClient watch = new WatchClient(fixture.channel())) {
            watch.send(WatchRequests.createPrefix("k/1", create -> create.setStartRevision(revision)));
            await().atMost(PATIENCE).until(() -> watch.received().stream().anyMatch(WatchResponse::getCanceled));
            assertThat(watch.received())
                    .filteredOn(WatchResponse::getCanceled)
                    .extracting(WatchResponse::getCompactRevision)
                    .containsExactly(compactRevision);
            assertThat(watch.eventsOf(0)).isEmpty();
        }
    }

    private static String read(KVBlockingStub kv, long revision) {
        return kv.range(range(revision)).getKvs(0).getValue().toStringUtf8();
    }

    private static RangeRequest range(long revision) {
        return RangeRequest.newBuilder()
                .setKey(key(1))
                .setRevision(revision)
                .setSerializable(true)
                .build();
    }

    private static void put(KVBlockingStub etcd, int number, String value) {
        assertThat(etcd.put(PutRequest.newBuilder()
                                .setKey(key(number))
                                .setValue(ByteString.copyFromUtf8(value))
                                .build())
                        .hasHeader())
                .isTrue();
    }

    private static ByteString key(int number) {
        return ByteString.copyFromUtf8("k/" + number);
    }
}
