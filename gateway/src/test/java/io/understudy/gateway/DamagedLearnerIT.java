package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.config.HostPort;
import io.understudy.gateway.verify.Verifier.VerifySettings;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A learner with different data than the voters: the replica must not be dropped for it.
 *
 * <p>Tests invariant R6.
 */
@Timeout(120)
final class DamagedLearnerIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).learners(1).named("source");

    private static final String DIFFERENCES = "understudy_gateway_verify_differences_total{process=\"gateway\"";
    private static final String DROPS = "understudy_gateway_replica_drops_total{process=\"gateway\"} 0.0";

    @Test
    void theReplicaStaysAndTheLearnerIsReportedUntilItIsRepaired() throws Exception {
        LocalEtcd cluster = SOURCE.cluster();
        cluster.etcdctl("put", "damaged", "value");
        cluster.etcdctl("put", "sound", "value");
        try (MemberFront learner = new MemberFront(cluster.learners().get(0)).known();
                GatewayFixture fixture = new GatewayFixture(GatewaySettings.of(
                                "test",
                                new HostPort("127.0.0.1", 0),
                                learner.source(cluster.voters().get(0).clientUrl()))
                        .with(new VerifySettings(Duration.ofMillis(300), 4 << 20)))) {
            fixture.awaitReady();
            learner.answer = DamagedLearnerIT::damaged;

            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            fixture.page("/readyz?verbose").body())
                    .contains("[+]verification ok: members [http://127.0.0.1:")
                    .containsPattern(
                            "differ from most voting members at revision \\d+ in 1 key, see the log; replace these members")
                    .doesNotContain("damaged"));
            assertThat(fixture.page("/metrics").body())
                    .contains(DIFFERENCES + ",side=\"replica\"} 0.0")
                    .doesNotContain(DIFFERENCES + ",side=\"source\"} 0.0")
                    .contains(DROPS);
            assertThat(fixture.etcdctl("get", "damaged", "--consistency=s")).isEqualTo("damaged\nvalue\n");

            learner.answer = response -> response;
            await().atMost(PATIENCE)
                    .untilAsserted(() ->
                            assertThat(fixture.page("/readyz?verbose").body()).contains("[+]verification ok\n"));
            assertThat(fixture.page("/metrics").body()).contains(DROPS);
        }
    }

    private static RangeResponse damaged(RangeResponse response) {
        RangeResponse.Builder other = response.toBuilder();
        other.getKvsBuilderList().stream()
                .filter(kv -> kv.getKey().equals(ByteString.copyFromUtf8("damaged")))
                .forEach(kv -> kv.setValue(ByteString.copyFromUtf8("other")));
        return other.build();
    }
}
