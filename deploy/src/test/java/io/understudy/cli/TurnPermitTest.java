package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.Runner;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class TurnPermitTest {

    private static final Step REMOVAL = new Step.Remove(new MemberId(3), "m3");
    private static final ClusterFacts ALARMED = facts(true, "CORRUPT of m3");
    private static final ClusterFacts LOST = facts(false);
    private static final ClusterFacts CALM = facts(true);

    private final AtomicInteger attempts = new AtomicInteger();

    @Test
    void noStepFollowsAnAlarmOrALostQuorumWithoutATurn() throws Exception {
        try (TurnPermit turn = turn()) {
            assertThat(turn.check(REMOVAL, ALARMED)).isEqualTo(Runner.Permission.GRANTED);
            assertThat(turn.check(REMOVAL, LOST)).isEqualTo(Runner.Permission.GRANTED);
            assertThat(attempts).hasValue(0);
            assertThat(turn.check(REMOVAL, CALM).denial())
                    .hasValueSatisfying(why -> assertThat(why).endsWith("another command"));
            assertThat(attempts).hasValue(1);
        }
    }

    @Test
    void aStartNeedsNoTurn() throws Exception {
        try (TurnPermit turn = turn()) {
            Step start = new Step.Start(new MemberSpec("m1", List.of(), List.of()));
            assertThat(turn.check(start, CALM)).isEqualTo(Runner.Permission.GRANTED);
            assertThat(attempts).hasValue(0);
        }
    }

    private TurnPermit turn() {
        return new TurnPermit(() -> {
            attempts.incrementAndGet();
            throw new IllegalStateException("another command");
        });
    }

    private static ClusterFacts facts(boolean isConfirmed, String... alarms) {
        return new ClusterFacts(new ClusterId(1), List.of(), isConfirmed, List.of(alarms), Instant.EPOCH);
    }
}
