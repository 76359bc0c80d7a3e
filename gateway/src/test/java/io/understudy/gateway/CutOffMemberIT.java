package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A learner without a connection to the voters continues to serve, with outdated users and roles. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
final class CutOffMemberIT {

    @RegisterExtension
    static final EtcdExtension SOURCE =
            EtcdExtension.voters(3).learners(1).named("cut-off").behindProxies();

    @Test
    void aPartitionedLearnerDoesNotBypassAuthentication() throws Exception {
        EtcdSettings source = EtcdSettings.of(SOURCE.cluster().clientUrls().toArray(new URI[0]))
                .withName("source")
                .withLogin(Users.root());
        try (GatewayFixture fixture =
                new GatewayFixture(GatewaySettings.of("test", new HostPort("127.0.0.1", 0), source))) {
            fixture.awaitReady();
            ManagedChannel channel = GatewayFixture.channel("127.0.0.1", fixture.gateway.apiPort());
            try {
                assertThat(isServed(channel)).isTrue();
                SOURCE.cluster().isolate(SOURCE.cluster().learners().get(0));
                SOURCE.cluster().enableAuthentication(Users.ROOT);

                await().atMost(Duration.ofSeconds(30)).until(() -> !isServed(channel));
                // A failed member is retried with increasing delays.
                double before = failedAtTheLearner(fixture);
                await().atMost(GatewayFixture.PATIENCE)
                        .pollInterval(Duration.ofMillis(20))
                        .failFast("served to nobody", () -> isServed(channel))
                        .until(() -> failedAtTheLearner(fixture) >= before + 3);
            } finally {
                channel.shutdownNow();
            }
        }
    }

    private static double failedAtTheLearner(GatewayFixture fixture) {
        return fixture.page("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith("understudy_etcd_readindex_seconds_count{")
                        && line.contains("outcome=\"failed\"")
                        && line.contains("role=\"learner\""))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    private static boolean isServed(ManagedChannel anonymous) {
        try {
            var unused = KVGrpc.newBlockingStub(anonymous)
                    .withDeadlineAfter(10, TimeUnit.SECONDS)
                    .range(RangeRequest.newBuilder()
                            .setKey(ByteString.copyFromUtf8("any"))
                            .setSerializable(true)
                            .build());
            return true;
        } catch (StatusRuntimeException e) {
            return false;
        }
    }
}
