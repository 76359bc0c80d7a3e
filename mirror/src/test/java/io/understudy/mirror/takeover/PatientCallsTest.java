package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.process.FreePorts;
import java.net.URI;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Calls of a command to a cluster that does not respond. */
final class PatientCallsTest {

    /** Tests invariant M37: a cluster that does not respond is not taken for closed. */
    @Test
    void withoutAResponseItIsUnknownWhetherAuthenticationIsEnabled() {
        try (FreePorts ports = FreePorts.take(1);
                EtcdCluster cluster = EtcdCluster.connect(
                        EtcdSettings.of(URI.create("http://127.0.0.1:" + ports.get(0))), new SimpleMeterRegistry())) {
            assertThatThrownBy(() -> new PatientCalls(cluster, null, Duration.ZERO).isAuthEnabled())
                    .isInstanceOf(TakeOverException.class)
                    .hasMessageContaining("did not answer a login");
        }
    }
}
