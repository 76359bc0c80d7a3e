package io.understudy.cli;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.Runner;
import io.understudy.cluster.supervise.elect.Turn;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Takes the turn before the first step that needs it. Under an alarm or without a quorum the cluster grants no lease, and
 * no supervisor is elected. For one thread.
 */
final class TurnPermit implements Runner.Permit, AutoCloseable {

    /** Takes a turn. */
    @FunctionalInterface
    interface Source {
        /**
         * Waits for it.
         *
         * @throws IllegalStateException another has it, or supervisors cannot be paused
         */
        Turn take() throws InterruptedException;
    }

    private final Source source;
    private @Nullable Turn turn;

    TurnPermit(Source source) {
        this.source = source;
    }

    /** As {@link Source#take}. */
    void take() throws InterruptedException {
        turn = source.take();
    }

    /** Whether the step needs no turn, since it changes no member list. */
    static boolean isHarmless(Step step) {
        return step instanceof Step.MoveLeader || step instanceof Step.Start;
    }

    @Override
    public Runner.Permission check(Step step, ClusterFacts facts) throws InterruptedException {
        if (isHarmless(step)) {
            return Runner.Permission.GRANTED;
        }
        if (turn != null) {
            return new Runner.Permission(turn.lost(), false);
        }
        if (!facts.alarms().isEmpty() || facts.verdict() != ClusterFacts.Verdict.HELD) {
            return Runner.Permission.GRANTED;
        }
        try {
            take();
            return new Runner.Permission(Optional.empty(), true);
        } catch (IllegalStateException e) {
            return new Runner.Permission(Optional.of("supervisors are not paused: " + e.getMessage()), false);
        }
    }

    @Override
    public void close() {
        if (turn != null) {
            turn.close();
        }
    }
}
