package io.understudy.etcd;

import static io.understudy.etcd.Views.FOLLOWER;
import static io.understudy.etcd.Views.LEADER;
import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.vocabulary.MemberId;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

final class LeaderLossTest {

    private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");
    private static final Instant END = NOW.plus(LeaderLoss.FOLLOWED);

    private final LeaderLoss loss = new LeaderLoss(LEADER, NOW);
    private final ClusterView view = Views.everyone();

    @Test
    void followersMayFollowALostLeaderForAWhile() {
        assertThat(loss.in(view, NOW)).map(Member::id).hasValue(LEADER);
        assertThat(loss.in(view, END.minusMillis(1))).isPresent();
        assertThat(loss.in(view, END)).isEmpty();
        assertThat(loss.isOver(view, END.minusMillis(1))).isFalse();
    }

    @Test
    void anotherLeaderEndsTheLoss() {
        assertThat(loss.in(led(FOLLOWER), NOW)).isEmpty();
        assertThat(loss.isOver(led(FOLLOWER), NOW)).isTrue();
    }

    @Test
    void writesWaitOnceForALeaderThatStaysUnreachable() {
        ClusterView unreachable =
                Views.of(Views.voter(LEADER, Health.UNREACHABLE), Views.voter(FOLLOWER, Health.HEALTHY));
        assertThat(loss.isOver(unreachable, END.plusSeconds(60))).isFalse();
        assertThat(loss.isOver(view, END)).as("recovered").isTrue();
    }

    @Test
    void aMemberWithoutALeaderKeepsTheWriteItself() {
        assertThat(loss.in(led(null), NOW)).isEmpty();
        assertThat(loss.isOver(led(null), NOW)).isFalse();
    }

    private ClusterView led(MemberId leader) {
        return new ClusterView(view.clusterId(), view.members(), leader, List.of(), List.of(), List.of(), null);
    }
}
