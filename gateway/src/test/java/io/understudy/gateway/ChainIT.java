package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
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
            URI uri = URI.create("http://127.0.0.1:" + parent.gateway.apiPort());
            GatewaySettings settings = GatewaySettings.of(
                            "child",
                            new HostPort("127.0.0.1", 0),
                            EtcdSettings.of(uri).withName("parent"))
                    .with(FORWARD);
            try (GatewayFixture child = new GatewayFixture(settings)) {
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
}
