package io.understudy.mirror.lease;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.config.Binder;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.LeaseServer;
import io.understudy.mirror.fixture.Silent;
import io.understudy.mirror.lease.LeaseKeeper.LeaseMetrics;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Leases of a sink, with clusters that fail or reject requests. */
final class KeptLeasesTest {

    private static final ClusterId SOURCE = new ClusterId(0xfeed);
    private static final ByteString KEY = ByteString.copyFromUtf8("k");

    private final LeaseServer source = new LeaseServer();
    private final LeaseServer target = new LeaseServer();
    private final EtcdCluster sourceCluster = EtcdCluster.connect(
            Binder.with(EtcdSettings.of(source.uri()), "requestTimeout", Duration.ofMillis(200)),
            new SimpleMeterRegistry());
    private final EtcdCluster targetCluster =
            EtcdCluster.connect(EtcdSettings.of(target.uri()), new SimpleMeterRegistry());

    @AfterEach
    void disconnect() {
        sourceCluster.close();
        targetCluster.close();
        source.close();
        target.close();
    }

    /** The sink would not notice a failover to its target. */
    @Test
    @Timeout(60)
    void aSourceThatDoesNotAnswerEndsTheSink() {
        source.silence();
        try (LeaseKeeper keeper = keeper();
                KeptLeases leases = leases(keeper)) {
            leases.expect(5);
            assertThatThrownBy(() -> leases.forPut(KEY, 5))
                    .isInstanceOf(SinkException.Unavailable.class)
                    .hasMessageContaining("from the source");
            assertThatThrownBy(
                            () -> leases.restore(new Position(SOURCE, new Revision(1), null), null, operations -> {}))
                    .isInstanceOf(SinkException.Unavailable.class)
                    .hasMessageContaining("from the source");
        }
    }

    private LeaseKeeper keeper() {
        return new LeaseKeeper(
                "dr",
                "test/1",
                targetCluster,
                EtcdSinkOptions.LEAST_TXN_OPS,
                new LeaseMetrics("dr", new SimpleMeterRegistry()));
    }

    private KeptLeases leases(LeaseKeeper keeper) {
        KeptLeases leases = new KeptLeases(keeper, MirrorScope.all(), sourceCluster, new Silent());
        leases.of(SOURCE);
        leases.in(Compare::getDefaultInstance);
        return leases;
    }
}
