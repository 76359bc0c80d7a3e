package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.quorum.Quorum;
import java.util.List;

/**
 * Whom one look reached, and how far it is to be believed.
 *
 * <p>Invariant DP25: no member counts as dead by inconclusive evidence or a pause of the supervisor, and no process is
 * stopped that was never seen as a member.
 */
final class Evidence {

    private Evidence() {}

    /** Neither we nor any member that answers has reached it. */
    static boolean isMissing(ClusterFacts facts, MemberFacts member) {
        return member.answer().isEmpty()
                && facts.members().stream()
                        .filter(other -> other.answer().isPresent())
                        .noneMatch(other -> other.peers().contains(member.id()));
    }

    /**
     * A leader that says nothing of its peers would make dead all that we can't reach ourselves: it and those it has a
     * connection with are to be a quorum. While nobody knows of a leader, those have to be that tell of their peers.
     */
    static boolean isSound(ClusterFacts facts) {
        Quorum quorum = facts.quorum();
        List<MemberFacts> voters = facts.voters();
        return facts.leader()
                        .map(leader -> 1
                                + voters.stream()
                                        .filter(voter -> leader.peers().contains(voter.id()))
                                        .count())
                        .orElseGet(() -> isLeaderKnown(facts)
                                ? 0
                                : voters.stream()
                                        .filter(voter -> !voter.peers().isEmpty())
                                        .count())
                >= quorum.needed();
    }

    private static boolean isLeaderKnown(ClusterFacts facts) {
        return facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .anyMatch(answer -> answer.leader().isPresent());
    }
}
