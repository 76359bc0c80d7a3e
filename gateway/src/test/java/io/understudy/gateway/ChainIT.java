package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.lock.LockGrpc;
import io.etcd.jetcd.api.lock.LockRequest;
import io.etcd.jetcd.api.lock.LockResponse;
import io.understudy.config.Binder;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.gateway.server.ServerLimits.LoadLimits;
import io.understudy.gateway.server.Unhurried;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A gateway speaks etcd, so a gateway can follow it.
 *
 * <p>Tests invariant W2.
 */
@Timeout(120)
final class ChainIT {

    private static final ForwardSettings FORWARD = ForwardSettings.DEFAULTS.with(Writes.FORWARD);

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @Test
    void aGatewayFollowsAGatewayAndForwardsWritesToIt() throws Exception {
        SOURCE.cluster().etcdctl("put", "before", "1");
        try (GatewayFixture parent =
                new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()).with(FORWARD))) {
            parent.awaitReady();
            try (GatewayFixture child = new GatewayFixture(childOf(parent))) {
                child.awaitReady();
                assertThat(child.etcdctl("get", "before", "--consistency=s")).isEqualTo("before\n1\n");
                SOURCE.cluster().etcdctl("put", "after", "2");
                await().atMost(PATIENCE).until(() -> child.etcdctl("get", "after", "--consistency=s")
                        .equals("after\n2\n"));
                assertThat(child.etcdctl("put", "through", "3")).isEqualTo("OK\n");
                assertThat(child.etcdctl("get", "through")).isEqualTo("through\n3\n");
                assertThat(SOURCE.cluster().etcdctl("get", "through")).isEqualTo("through\n3\n");
                assertThat(child.gateway.memberId()).isNotEqualTo(parent.gateway.memberId());
            }
        }
    }

    @Test
    void waitingCallsOfAClientDelayNeitherReadsOfAnotherNorTheFeed() throws Exception {
        GatewaySettings usual = GatewayFixture.settings(SOURCE.cluster()).with(FORWARD);
        LoadLimits few = Binder.with(Unhurried.LIMITS.load(), "maxInFlightPerConnection", 20);
        try (GatewayFixture parent = new GatewayFixture(usual.with(Binder.with(Unhurried.LIMITS, few)))) {
            parent.awaitReady();
            try (GatewayFixture child = new GatewayFixture(childOf(parent))) {
                child.awaitReady();
                LockRequest lock = LockRequest.newBuilder()
                        .setName(ByteString.copyFromUtf8("lock"))
                        .build();
                assertThat(LockGrpc.newBlockingStub(child.channel()).lock(lock).hasHeader())
                        .isTrue();
                List<Future<LockResponse>> locks = new ArrayList<>();
                for (int i = 0; i < 40; i++) {
                    locks.add(LockGrpc.newFutureStub(child.channel()).lock(lock));
                }
                // The parent refuses the others.
                await().atMost(PATIENCE)
                        .until(() -> locks.stream().filter(Future::isDone).count() == 20);
                SOURCE.cluster().etcdctl("put", "meanwhile", "1");
                assertThat(child.etcdctl("get", "meanwhile")).isEqualTo("meanwhile\n1\n");
                assertThat(locks.stream().filter(Future::isDone)).hasSize(20);
            }
        }
    }

    private static GatewaySettings childOf(GatewayFixture parent) {
        URI uri = URI.create("http://127.0.0.1:" + parent.gateway.apiPort());
        return GatewaySettings.of(
                        "child",
                        new HostPort("127.0.0.1", 0),
                        EtcdSettings.of(uri).withName("parent"))
                .with(FORWARD);
    }
}
