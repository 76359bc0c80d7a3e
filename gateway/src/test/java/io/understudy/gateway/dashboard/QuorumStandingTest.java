package io.understudy.gateway.dashboard;

import static io.understudy.etcd.Health.HEALTHY;
import static io.understudy.etcd.Health.LEADERLESS;
import static io.understudy.etcd.Health.UNKNOWN;
import static io.understudy.etcd.Health.UNREACHABLE;
import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.etcd.Health;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

final class QuorumStandingTest {

    private static final Duration LONG = Duration.ofMinutes(1);

    @Test
    void whatWasConfirmedLatelyWasSoByAQuorumWhateverMembersSay() {
        assertThat(QuorumStanding.of(Duration.ofMillis(500), List.of(UNREACHABLE, UNREACHABLE, UNREACHABLE)))
                .isEqualTo(QuorumStanding.HELD);
    }

    @Test
    void moreThanHalfOfTheVotersAreEnough() {
        assertThat(after(HEALTHY, HEALTHY, UNREACHABLE)).isEqualTo(QuorumStanding.HELD);
        assertThat(after(HEALTHY, HEALTHY, UNREACHABLE, UNREACHABLE)).isEqualTo(QuorumStanding.LOST);
    }

    @Test
    void votersThatAnswerWithoutOneSayThatItIsLost() {
        assertThat(after(LEADERLESS, UNREACHABLE, UNREACHABLE)).isEqualTo(QuorumStanding.LOST);
        assertThat(after(HEALTHY, UNREACHABLE, UNKNOWN)).isEqualTo(QuorumStanding.LOST);
    }

    @Test
    void whoReachesNoVoterKnowsNothingOfTheOthers() {
        assertThat(after(UNREACHABLE, UNREACHABLE, UNREACHABLE)).isEqualTo(QuorumStanding.UNREACHABLE);
    }

    @Test
    void nothingIsSaidBeforeAnybodyLooked() {
        assertThat(after(UNKNOWN, UNKNOWN, UNKNOWN)).isEqualTo(QuorumStanding.UNKNOWN);
        assertThat(after()).isEqualTo(QuorumStanding.UNKNOWN);
    }

    private static QuorumStanding after(Health... voters) {
        return QuorumStanding.of(LONG, List.of(voters));
    }
}
