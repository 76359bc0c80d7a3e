package io.understudy.cluster.supervise.rule;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Permits no change without a quorum. */
final class QuorumRule {

    private QuorumRule() {}

    static Optional<Decision> lost(Situation situation) {
        if (situation.history().lostSince().isEmpty()) {
            return Optional.empty();
        }
        String observed = situation.quorum() + "; answering: "
                + Rules.names(answering(situation))
                + (situation.facts().isConfirmed() ? "" : "; no quorum confirms the list of members");
        List<MemberFacts> started = situation.facts().voters().stream()
                .filter(voter -> !voter.isHealthy()
                        && situation
                                .placeOf(voter)
                                .filter(place -> situation.wasOrdered(new Step.Start(place.spec())))
                                .isPresent())
                .toList();
        if (!started.isEmpty()) {
            return Optional.of(new Decision.Waiting(
                    "quorum-lost", observed, "waits for " + Rules.names(started) + ", started just now"));
        }
        // An election looks the same for a while.
        return History.lasted(
                        situation.history().lostSince(), situation.limits().dead(), situation.now())
                ? Optional.of(new Decision.QuorumLost(observed, guidance(situation)))
                : Optional.of(new Decision.Waiting(
                        "quorum-lost", observed, "nothing is changed; an election may be under way"));
    }

    private static List<MemberFacts> answering(Situation situation) {
        return situation.facts().members().stream()
                .filter(member -> member.answer().isPresent())
                .toList();
    }

    private static MemberAnswer answer(MemberFacts member) {
        return member.answer().orElseThrow();
    }

    private static List<String> guidance(Situation situation) {
        List<String> lines = new ArrayList<>();
        lines.add(situation.quorum().needed() + " of " + situation.quorum().voters()
                + " voters are needed; the best cure is to start these again, with the data they have: "
                + situation.facts().voters().stream()
                        .filter(voter -> !voter.isHealthy() && voter.answer().isEmpty())
                        .map(MemberFacts::label)
                        .collect(joining(", "))
                + ".");
        situation.facts().mostRecent().ifPresent(best -> {
            lines.add("Of those that answer " + best.label() + " has the most recent data: raft term "
                    + answer(best).raftTerm() + ", committed index "
                    + answer(best).raftIndex() + ", revision "
                    + answer(best).revision() + "; those that don't answer may have more.");
            lines.add("If they are lost for good: understudy cluster recover restores the quorum from the voters that"
                    + " have data; it keeps every old data directory. Stop all supervisors first: without a quorum"
                    + " they cannot be paused.");
        });
        return lines;
    }
}
