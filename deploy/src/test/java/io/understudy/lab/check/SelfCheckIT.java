package io.understudy.lab.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.google.protobuf.ByteString;
import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.NoSpaceAlarm;
import io.understudy.lab.check.SelfCheck.ClosedCoreException;
import io.understudy.lab.failure.LabException;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.home.Home;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.ClusterId;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

@Timeout(60)
@Tag("distribution")
final class SelfCheckIT {

    @RegisterExtension
    static final EtcdExtension CORE = EtcdExtension.voters(1).named("core");

    @Test
    void aNoSpaceAlarmIsReportedInOneLineWithARemedy() throws Exception {
        EtcdMember voter = CORE.cluster().members().get(0);
        NoSpaceAlarm alarm = NoSpaceAlarm.raise(voter.directClientUrl());
        try {
            assertThatExceptionOfType(ClosedCoreException.class)
                    .isThrownBy(() -> check(voter).run())
                    .satisfies(refused -> assertThat(refused.getMessage())
                            .contains("rejects writes", "NOSPACE", "alarm disarm", "--fresh")
                            .doesNotContain("Status{", "\n"));
        } finally {
            alarm.lift();
        }
        assertThat(check(voter).run()).hasSize(1);
    }

    @Test
    void noKeyIsWrittenToAFormerPrimary() throws Exception {
        EtcdMember voter = CORE.cluster().members().get(0);
        ByteString key = ReservedKeys.home("dr");
        ClusterId dr = new ClusterId(2);
        try (EtcdClient client = new EtcdClient(EtcdSettings.of(voter.directClientUrl()))) {
            ClusterId core = new ClusterId(client.range(key).getHeader().getClusterId());
            Home record = new Home("dr", core, core, dr, MirrorScope.prefix("/app/"), 0, Instant.EPOCH);
            var unused = client.put(key, record.encode());
            assertThat(check(voter).run()).hasSize(1);
            ByteString moved = record.movedTo(dr, 1, Instant.EPOCH).turned().encode();
            long revision = client.put(key, moved).getHeader().getRevision();
            assertThatExceptionOfType(ClosedCoreException.class)
                    .isThrownBy(() -> check(voter).run())
                    .withMessageContainingAll("primary: cluster 2", "understudy mirror failback");
            assertThat(client.delete(key).getHeader().getRevision()).isEqualTo(revision + 1);
        }
    }

    @Test
    void anotherRejectionIsReportedAsText() {
        EtcdMember voter = CORE.cluster().members().get(0);
        voter.stop();
        try {
            assertThatExceptionOfType(LabException.class)
                    .isThrownBy(() -> check(voter).run())
                    .satisfies(refused -> assertThat(refused.getMessage())
                            .contains("rejected the self-check: ")
                            .doesNotContain("Status{"));
        } finally {
            voter.start();
        }
    }

    private static SelfCheck check(EtcdMember voter) {
        return new SelfCheck(EtcdSettings.of(voter.directClientUrl()), "dr", List.of());
    }
}
