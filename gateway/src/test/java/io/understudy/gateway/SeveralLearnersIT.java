package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Since 3.6, a cluster can have several learners, and each of several gateways one of its own.
 *
 * <p>Tests invariants E10, F10.
 */
@Timeout(120)
final class SeveralLearnersIT {

    private static final ByteString KEY = ByteString.copyFromUtf8("key");
    private static final int READS = 100;

    @TempDir
    private Path folder;

    private final HttpClient http = HttpClient.newHttpClient();
    private LocalEtcd cluster;
    private GatewayFixture first;
    private GatewayFixture second;

    @BeforeEach
    void start() throws Exception {
        assumeTrue(GatewayFixture.VERSION.atLeast(3, 6, 0), "skipped, since etcd before 3.6 permits one learner");
        cluster = LocalEtcd.builder()
                .dataDirectory(folder)
                .voters(1)
                .learners(2)
                .fsync(false)
                .build();
        cluster.start();
        cluster.etcdctl("put", "key", "1");
        first = besides(cluster.learners().get(0));
        second = besides(cluster.learners().get(1));
    }

    private GatewayFixture besides(EtcdMember learner) throws Exception {
        EtcdSettings source = EtcdSettings.of(
                        learner.clientUrl(), cluster.leader().clientUrl())
                .withDiscovery(MemberDiscovery.CONFIGURED)
                .withName("source");
        GatewayFixture gateway =
                new GatewayFixture(GatewaySettings.of(learner.name(), new HostPort("127.0.0.1", 0), source)
                        .with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)));
        gateway.awaitReady();
        return gateway;
    }

    @AfterEach
    void stop() {
        for (AutoCloseable each : new AutoCloseable[] {first, second, cluster}) {
            if (each != null) {
                close(each);
            }
        }
    }

    private static void close(AutoCloseable opened) {
        try {
            opened.close();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void eachGatewayUsesItsOwn() throws Exception {
        for (GatewayFixture gateway : List.of(first, second)) {
            double[] before = ranges();
            readNewest(gateway);
            double[] after = ranges();
            int own = gateway == first ? 1 : 2;
            for (int i = 0; i < after.length; i++) {
                // Others also serve the gateways' own checks.
                assertThat(after[i] - before[i] >= READS)
                        .as("member %s of voter and learners, gateway of %s", i, own)
                        .isEqualTo(i == own);
            }
        }
    }

    @Test
    void bothServeWhenOneIsPromotedAndTheOtherRemoved() throws Exception {
        EtcdMember promoted = cluster.learners().get(0);
        EtcdMember removed = cluster.learners().get(1);
        await().ignoreExceptions().until(() -> {
            cluster.promote(promoted);
            return true;
        });
        cluster.remove(removed);

        await().untilAsserted(() -> readNewest(first));
        await().ignoreExceptions().untilAsserted(() -> readNewest(second));
    }

    /** Through the gateway. */
    private static void readNewest(GatewayFixture gateway) {
        for (int i = 0; i < READS; i++) {
            ByteString value = ByteString.copyFromUtf8("value " + i);
            gateway.kv().put(PutRequest.newBuilder().setKey(KEY).setValue(value).build());
            assertThat(gateway.kv()
                            .range(RangeRequest.newBuilder().setKey(KEY).build())
                            .getKvs(0)
                            .getValue())
                    .isEqualTo(value);
        }
    }

    /** Range requests that the voting member and each learner have served. */
    private double[] ranges() throws IOException, InterruptedException {
        List<EtcdMember> members = List.of(
                cluster.leader(), cluster.learners().get(0), cluster.learners().get(1));
        double[] ranges = new double[members.size()];
        for (int i = 0; i < ranges.length; i++) {
            URI page = members.get(i).directClientUrl().resolve("/metrics");
            ranges[i] = http.send(HttpRequest.newBuilder(page).build(), BodyHandlers.ofString())
                    .body()
                    .lines()
                    .filter(line ->
                            line.startsWith("grpc_server_handled_total{") && line.contains("grpc_method=\"Range\""))
                    .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                    .sum();
        }
        return ranges;
    }
}
