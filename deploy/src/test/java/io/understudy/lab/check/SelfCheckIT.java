package io.understudy.lab.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.NoSpaceAlarm;
import io.understudy.lab.failure.LabException;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
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
            assertThatExceptionOfType(NoSpaceException.class)
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
    void anotherRejectionIsReportedAsText() {
        EtcdMember voter = CORE.cluster().members().get(0);
        voter.stop();
        try {
            assertThatExceptionOfType(LabException.class)
                    .isThrownBy(() -> check(voter).run())
                    .satisfies(refused -> assertThat(refused.getMessage())
                            .contains("rejected the write of the self-check: ")
                            .doesNotContain("Status{"));
        } finally {
            voter.start();
        }
    }

    private static SelfCheck check(EtcdMember voter) {
        return new SelfCheck(EtcdSettings.of(voter.directClientUrl()), List.of());
    }
}
