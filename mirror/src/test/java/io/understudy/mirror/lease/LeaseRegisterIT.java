package io.understudy.mirror.lease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.etcd.jetcd.api.Compare;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which leases are a mirror's own is written by the mirror's active process alone. */
final class LeaseRegisterIT {

    private static final ClusterId SOURCE = new ClusterId(0xfeed);

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    @Test
    void nothingIsWrittenAfterATakeOver() throws Exception {
        try (EtcdCluster cluster = EtcdCluster.connect(Mirrors.settings(TARGET.cluster()), new SimpleMeterRegistry());
                TestClient target = TestClient.of(TARGET.cluster().leader())) {
            LeaseRegister register =
                    new LeaseRegister("dr", new ClusterCalls(cluster, Duty.WRITE, Duration.ofSeconds(2)));
            target.put(ReservedKeys.epoch("dr").toStringUtf8(), "1");
            List<Compare> ours = List.of(epochOf(target));
            register.add(List.of(1L), SOURCE, ours);
            register.setWhole(true, ours);
            target.put(ReservedKeys.epoch("dr").toStringUtf8(), "2");
            assertThatThrownBy(() -> register.add(List.of(2L), SOURCE, ours)).isInstanceOf(SinkException.Fenced.class);
            assertThatThrownBy(() -> register.remove(1, ours)).isInstanceOf(SinkException.Fenced.class);
            assertThatThrownBy(() -> register.setWhole(false, ours)).isInstanceOf(SinkException.Fenced.class);
            assertThat(register.ids()).containsExactly(1L);
            assertThat(register.isWhole()).isTrue();
        }
    }

    private static Compare epochOf(TestClient target) {
        return Compare.newBuilder()
                .setKey(ReservedKeys.epoch("dr"))
                .setTarget(Compare.CompareTarget.MOD)
                .setResult(Compare.CompareResult.EQUAL)
                .setModRevision(target.get(ReservedKeys.epoch("dr")).getKvs(0).getModRevision())
                .build();
    }
}
