package io.understudy.cluster.supervise.rule;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Without a quorum nothing is changed. */
final class QuorumRule {

    /** Raft's own order of who may lead: the last term, then the last entry; of equals one that votes. */
    private static final Comparator<MemberFacts> MOST_RECENT = Comparator.comparing(
                    QuorumRule::answer,
                    Comparator.comparingLong(MemberAnswer::raftTerm)
                            .thenComparingLong(MemberAnswer::raftIndex)
                            .thenComparingLong(MemberAnswer::appliedIndex))
            .thenComparing(MemberFacts::isVoter);

    private QuorumRule() {}

    static Optional<Decision> lost(Situation situation) {
        if (situation.history().lostSince().isEmpty()) {
            return Optional.empty();
        }
        String observed = situation.quorum() + "; answering: "
                + Rules.names(answering(situation))
                + (situation.facts().isConfirmed() ? "" : "; no quorum confirms the list of members");
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
        answering(situation).stream().max(MOST_RECENT).ifPresent(best -> {
            lines.add("Of those that answer " + best.label() + " has the most recent data: raft term "
                    + answer(best).raftTerm() + ", index " + answer(best).raftIndex() + ", revision "
                    + answer(best).revision() + "; those that don't answer may have more.");
            lines.add(
                    "If they are lost for good: understudy cluster recover restarts the cluster from " + best.label()
                            + " alone and grows it by learners; it keeps every old data directory. Pause this supervisor first.");
        });
        return lines;
    }
}
