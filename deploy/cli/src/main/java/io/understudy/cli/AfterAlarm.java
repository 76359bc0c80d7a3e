package io.understudy.cli;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.supervise.elect.Turn;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Returns why a step may not be taken after an alarm; empty if it may. It takes the turn before the first such step,
 * since a supervisor may be elected from then on. For one thread.
 */
final class AfterAlarm implements Function<ClusterFacts, Optional<String>>, AutoCloseable {

    private final boolean isExpected;
    private final Callable<Turn> take;
    private @Nullable Turn turn;

    /** @param isExpected whether there is an alarm */
    AfterAlarm(boolean isExpected, Callable<Turn> take) {
        this.isExpected = isExpected;
        this.take = take;
    }

    @Override
    public Optional<String> apply(ClusterFacts facts) {
        try {
            if (turn == null && isExpected && facts.alarms().isEmpty()) {
                turn = take.call();
            }
            return turn == null ? Optional.empty() : turn.lost();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of("interrupted while pausing the supervisors");
        } catch (Exception e) {
            return Optional.of("the alarm is disarmed, but supervisors are not paused: " + e.getMessage());
        }
    }

    @Override
    public void close() {
        if (turn != null) {
            turn.close();
        }
    }
}
