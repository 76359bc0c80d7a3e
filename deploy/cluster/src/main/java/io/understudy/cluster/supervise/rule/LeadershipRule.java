package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** Moves leadership from a slow or repeatedly failing leader to a healthy voting member. */
final class LeadershipRule {

    /** Minimum time between moves, each of which briefly interrupts writes. */
    private static final Duration BETWEEN_MOVES = Duration.ofMinutes(10);

    private LeadershipRule() {}

    static Optional<Decision> move(Situation situation) {
        Instant moved = situation.history().orders().get(Orders.MOVE_LEADER);
        if (moved != null && moved.plus(BETWEEN_MOVES).isAfter(situation.now())) {
            return Optional.empty();
        }
        return situation
                .facts()
                .leader()
                .filter(leader -> situation.finding(leader).is(MemberState.Action.MOVE_LEADERSHIP))
                .flatMap(leader -> situation.facts().voters().stream()
                        .filter(voter -> situation.finding(voter).state() == MemberState.HEALTHY)
                        .findFirst()
                        .map(voter -> move(situation, leader, voter)));
    }

    private static Decision move(Situation situation, MemberFacts leader, MemberFacts voter) {
        return Rules.change(
                situation,
                situation.finding(leader).state().label(),
                situation.described(leader),
                "leadership moves to " + voter.label(),
                new Step.MoveLeader(leader.id(), voter.id(), voter.label()));
    }
}
