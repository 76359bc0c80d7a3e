package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.vocabulary.ClusterId;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

final class AfterAlarmTest {

    private static final ClusterFacts ALARMED = facts("CORRUPT of m3");
    private static final ClusterFacts CALM = facts();

    private final AtomicInteger attempts = new AtomicInteger();

    @Test
    void withoutATurnNoStepFollowsAnAlarm() {
        try (AfterAlarm turn = turn(true)) {
            assertThat(turn.apply(ALARMED)).isEmpty();
            assertThat(attempts).hasValue(0);
            assertThat(turn.apply(CALM))
                    .hasValueSatisfying(why -> assertThat(why).endsWith("another command"));
            assertThat(attempts).hasValue(1);
        }
    }

    @Test
    void whereThereWasNoAlarmNoTurnIsTaken() {
        try (AfterAlarm turn = turn(false)) {
            assertThat(turn.apply(CALM)).isEmpty();
            assertThat(attempts).hasValue(0);
        }
    }

    private AfterAlarm turn(boolean isExpected) {
        return new AfterAlarm(isExpected, () -> {
            attempts.incrementAndGet();
            throw new IllegalStateException("another command");
        });
    }

    private static ClusterFacts facts(String... alarms) {
        return new ClusterFacts(new ClusterId(1), List.of(), true, List.of(alarms), Instant.EPOCH);
    }
}
