package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/** A leader with a slow disk, or that fails again and again, gives leadership to a voting member without a fault. */
final class LeadershipRule {

    /** Each move interrupts writes for a moment. */
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
