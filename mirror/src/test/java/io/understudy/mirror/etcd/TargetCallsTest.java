package io.understudy.mirror.etcd;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.api.RangeRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.Binder;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.mirror.fixture.LeaseServer;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.sink.SinkException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Calls on a cluster that does not respond. */
final class TargetCallsTest {

    /** A sink that waits for its source would not notice a failover to its target. */
    @Test
    @Timeout(60)
    void aSourceIsNotWaitedForWithoutEnd() {
        try (LeaseServer source = new LeaseServer();
                EtcdCluster cluster = EtcdCluster.connect(
                        Binder.with(EtcdSettings.of(source.uri()), "requestTimeout", Duration.ofMillis(200)),
                        new SimpleMeterRegistry());
                TargetCalls calls = TargetCalls.ofSource(cluster, new Silent())) {
            source.silence();
            assertThatThrownBy(() -> calls.range(RangeRequest.getDefaultInstance()))
                    .isInstanceOf(SinkException.Unavailable.class)
                    .hasMessageContaining("no response within 200 ms");
        }
    }
}
