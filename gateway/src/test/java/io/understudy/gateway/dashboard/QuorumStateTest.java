package io.understudy.gateway.dashboard;

import static io.understudy.etcd.Health.HEALTHY;
import static io.understudy.etcd.Health.LEADERLESS;
import static io.understudy.etcd.Health.UNKNOWN;
import static io.understudy.etcd.Health.UNREACHABLE;
import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.etcd.Health;
import io.understudy.gateway.dashboard.Overview.QuorumState;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class QuorumStateTest {

    private static final Duration LONG = Duration.ofMinutes(1);

    @Test
    void aRecentConfirmationProvesAQuorumWhateverMembersReport() {
        assertThat(QuorumState.of(Duration.ofMillis(500), List.of(UNREACHABLE, UNREACHABLE, UNREACHABLE)))
                .isEqualTo(QuorumState.HELD);
    }

    @Test
    void aMajorityOfHealthyVotersHoldsAQuorum() {
        assertThat(after(HEALTHY, HEALTHY, UNREACHABLE)).isEqualTo(QuorumState.HELD);
        assertThat(after(HEALTHY, HEALTHY, UNREACHABLE, UNREACHABLE)).isEqualTo(QuorumState.LOST);
    }

    @Test
    void respondingVotersWithoutAMajorityReportALostQuorum() {
        assertThat(after(LEADERLESS, UNREACHABLE, UNREACHABLE)).isEqualTo(QuorumState.LOST);
        assertThat(after(HEALTHY, UNREACHABLE, UNKNOWN)).isEqualTo(QuorumState.LOST);
    }

    @Test
    void withoutAReachableVoterTheQuorumIsUnreachable() {
        assertThat(after(UNREACHABLE, UNREACHABLE, UNREACHABLE)).isEqualTo(QuorumState.UNREACHABLE);
    }

    @Test
    void theStateIsUnknownBeforeTheFirstQuery() {
        assertThat(after(UNKNOWN, UNKNOWN, UNKNOWN)).isEqualTo(QuorumState.UNKNOWN);
        assertThat(after()).isEqualTo(QuorumState.UNKNOWN);
    }

    private static QuorumState after(Health... voters) {
        return QuorumState.of(LONG, List.of(voters));
    }
}
