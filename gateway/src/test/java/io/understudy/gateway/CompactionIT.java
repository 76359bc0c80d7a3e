package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.ManagedChannel;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
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
