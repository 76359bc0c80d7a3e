package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.gateway.server.LoopLoad.QueueBound;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Fifty milliseconds of processor time may be queued. */
final class QueueBoundTest {

    private final QueueBound bound = new QueueBound(TimeUnit.MILLISECONDS.toNanos(50));

    @Test
    void aFewSlowRequestsAreAdmitted() {
        for (int i = 0; i < 1_000; i++) {
            assertThat(turn(QueueBound.LEAST, 10_000)).isEqualTo(QueueBound.LEAST);
        }
    }

    @Test
    void aSlowBurstIsAdmitted() {
        turn(QueueBound.LEAST, 10_000);
        assertThat(turn(2_000, 10_000)).isEqualTo(2_000);
    }

    @Test
    void aStandingQueueIsCutToWhatFits() {
        turn(QueueBound.LEAST, 100);
        assertThat(turn(10_000, 100)).isEqualTo(500 + QueueBound.BURST);
        assertThat(turn(10_000, 100)).isEqualTo(500);
        assertThat(turn(10_000, 100)).isEqualTo(500);
    }

    @Test
    void cheapRequestsRaiseTheBound() {
        for (int i = 0; i < 100; i++) {
            assertThat(turn(5_000, 10)).isEqualTo(5_000);
        }
    }

    @Test
    void theFirstRequestOfAConnectionIsAdmittedBehindOthers() {
        standing();
        assertThat(bound.rejects(false)).isTrue();
        assertThat(bound.rejects(true)).isFalse();
        for (int i = 0; i < 3 * 500; i++) {
            bound.serves();
        }
        assertThat(bound.rejects(true)).isTrue();
    }

    @Test
    void aQueueThatHasDrainedAllowsABurstAgain() {
        standing();
        bound.turnEnds();
        for (int i = 0; i < QueueBound.BURST / 100; i++) {
            turn(100, 100);
        }
        assertThat(turn(2_000, 100)).isEqualTo(2_000);
    }

    /** Leaves a turn in which no more is served. */
    private void standing() {
        for (int i = 0; i < 3; i++) {
            turn(10_000, 100);
        }
        while (!bound.rejects(false)) {
            bound.serves();
        }
    }

    /** A turn that finds as many requests; returns how many it serves. */
    private int turn(int arrived, long micros) {
        int served = 0;
        for (int i = 0; i < arrived; i++) {
            if (!bound.rejects(false)) {
                served++;
                if (bound.serves()) {
                    bound.measure(0);
                }
            }
        }
        if (bound.isMeasured()) {
            bound.measured(TimeUnit.MICROSECONDS.toNanos(micros) * (served - 16));
        }
        bound.turnEnds();
        return served;
    }
}
