package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.config.HostPort;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A gateway from its start to its end, before a real source.
 *
 * <p>Tests invariant G1.
 */
@Timeout(180)
@Tag("core")
final class GatewayIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @Test
    void writesReachTheGatewayWithTheHeaderOfTheSource() throws Exception {
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            SOURCE.cluster().etcdctl("put", "seen", "yes");
            await().atMost(PATIENCE).until(() -> fixture.etcdctl("get", "seen", "--consistency=s")
                    .equals("seen\nyes\n"));
            SOURCE.cluster().etcdctl("del", "seen");
            await().atMost(PATIENCE).until(() -> fixture.etcdctl("get", "seen", "--consistency=s")
                    .isEmpty());
            var header = fixture.everything().getHeader();
            EtcdMember member = SOURCE.cluster().members().get(0);
            assertThat(header.getMemberId())
                    .isEqualTo(fixture.gateway.memberId().value())
                    .isNotEqualTo(member.id());
        }
    }

    @Test
    void readinessFollowsTheSource() throws Exception {
        EtcdMember member = SOURCE.cluster().members().get(0);
        GatewaySettings defaults = GatewayFixture.settings(SOURCE.cluster());
        GatewaySettings settings = GatewayFixture.withMaxSilence(defaults, Duration.ofSeconds(4));
        member.pause();
        try (GatewayFixture fixture = new GatewayFixture(settings)) {
            assertThat(fixture.page("/readyz").body())
                    .startsWith("[+]process ok\n[-]replica failed: first snapshot not complete\n");
            assertThat(fixture.page("/livez").statusCode()).isEqualTo(200);
            assertThatExceptionOfType(StatusRuntimeException.class)
                    .isThrownBy(fixture::everything)
                    .satisfies(
                            refusal -> assertThat(refusal.getStatus().getCode()).isEqualTo(Status.Code.UNAVAILABLE));
            member.resume();
            fixture.awaitReady();
            assertThat(fixture.page("/health").body()).isEqualTo("{\"health\":\"true\",\"reason\":\"\"}");
            member.pause();
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(fixture.page("/readyz").body())
                            .contains("[-]staleness failed: no source progress for")
                            .contains("[-]read_index failed: no revision confirmed for"));
            // Serializable reads are what a replica is for when its source is away.
            assertThat(fixture.everything().getHeader().getRevision()).isPositive();
            member.resume();
            fixture.awaitReady();
        }
    }

    @Test
    void aRestartedGatewayIsTheSameMember() throws Exception {
        long before;
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            before = fixture.everything().getHeader().getMemberId();
        }
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            assertThat(fixture.everything().getHeader().getMemberId()).isEqualTo(before);
        }
    }

    @Test
    void aPortInUseFailsTheStartWithItsAddress() throws Exception {
        GatewaySettings settings = GatewayFixture.settings(SOURCE.cluster());
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            HostPort at = new HostPort("127.0.0.1", taken.getLocalPort());
            assertThatExceptionOfType(IOException.class)
                    .isThrownBy(() -> Gateway.start(GatewaySettings.of("test", at, settings.source())))
                    .withMessageContaining("cannot listen on " + at)
                    .withMessageContaining("Address already in use");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(Thread.getAllStackTraces().keySet())
                            .extracting(Thread::getName)
                            .noneMatch(name -> name.startsWith("vert.x-eventloop") || name.equals("replica-writer")));
        }
    }

    @Test
    void metricsCoverReplicaAndRequests() throws Exception {
        SOURCE.cluster().etcdctl("put", "measured", "yes");
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            long revision = fixture.everything().getHeader().getRevision();
            assertThat(fixture.page("/metrics").body())
                    .contains("understudy_gateway_replica_revision{process=\"gateway\"} " + (double) revision)
                    .contains("understudy_gateway_replica_keys{process=\"gateway\"} ")
                    .contains("understudy_gateway_replica_bytes{process=\"gateway\"} ")
                    .contains("understudy_gateway_replica_lag_revisions{process=\"gateway\"} ")
                    .contains("understudy_gateway_replica_ready{process=\"gateway\"} 1.0")
                    .contains("understudy_gateway_replica_apply_seconds_count")
                    .contains("understudy_gateway_feed_silence_seconds{process=\"gateway\"} ")
                    .contains("understudy_gateway_feed_resyncs_total{process=\"gateway\"} 0.0")
                    .contains(
                            "understudy_gateway_requests_seconds_count{code=\"OK\",method=\"etcdserverpb.KV/Range\",process=\"gateway\"}");
        }
    }
}
