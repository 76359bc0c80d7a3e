package io.understudy.cluster.plan;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.Confirming;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.vocabulary.MemberId;
import java.util.List;
import java.util.Optional;

/** Rules by which no step needs more votes than healthy members have. */
final class QuorumRules {

    private QuorumRules() {}

    static Optional<Refusal> quorumIsHeld(Step step, ClusterFacts facts) {
        // A member that starts with its data takes nothing from a quorum, and may restore it.
        if (step instanceof Step.Start || (facts.isConfirmed() && facts.quorum().isHeld())) {
            return Optional.empty();
        }
        boolean isLost = facts.quorum().isHeld() || facts.verdict() == ClusterFacts.Verdict.LOST;
        return Optional.of(new Refusal(
                "quorum-held",
                isLost
                        ? "no changes are possible without a quorum; " + facts.quorum()
                                + (facts.isConfirmed() ? "" : ", and no quorum confirms the member list")
                        : facts.quorum().healthy() + " of " + facts.quorum().voters()
                                + " voting members responded in time, "
                                + facts.quorum().needed()
                                + " needed: " + facts.silence(),
                !isLost
                        ? "Retry with a longer --timeout, and check the members that do not respond"
                        : Confirming.isPossible(facts)
                                ? "Start the voting members that do not respond (" + dead(facts)
                                        + "); if they are lost permanently, see understudy cluster recover"
                                : Confirming.WAY_OUT));
    }

    /** Requires a quorum after the step of members healthy before it (Raft, section 4). */
    static Optional<Refusal> quorumSurvives(Step step, ClusterFacts facts) {
        Quorum worst = worst(step, facts);
        if (worst.isHeld()) {
            return Optional.empty();
        }
        return Optional.of(new Refusal(
                "quorum-survives",
                "the step (" + step.text() + ") would leave " + worst + "; current: " + facts.quorum(),
                wayOut(step, facts)));
    }

    /** Returns the quorum at the worst moment of the step, with the members healthy now. */
    static Quorum worst(Step step, ClusterFacts facts) {
        Quorum now = facts.quorum();
        if (step instanceof Step.Promote promote) {
            return facts.member(promote.id())
                    .filter(MemberFacts::isLearner)
                    .map(learner -> now.plusVoter(learner.isHealthy()))
                    .orElse(now);
        }
        if (step instanceof Step.Remove remove) {
            return voter(facts, remove.id())
                    .map(voter -> now.minusVoter(voter.isHealthy()))
                    .orElse(now);
        }
        if (step instanceof Step.Restart restart) {
            return down(facts, restart.id());
        }
        if (step instanceof Step.Defragment defragment) {
            return now.voters() <= 2 ? now : down(facts, defragment.id());
        }
        if (step instanceof Step.Migrate migrate) {
            return down(facts, migrate.id());
        }
        // The others may not reach it until it listens there; a single member needs no connection.
        return step instanceof Step.UpdatePeerUrls update && now.voters() > 1 ? down(facts, update.id()) : now;
    }

    private static Quorum down(ClusterFacts facts, MemberId id) {
        Quorum now = facts.quorum();
        boolean isCounted = voter(facts, id).filter(MemberFacts::isHealthy).isPresent();
        return isCounted ? new Quorum(now.voters(), now.healthy() - 1) : now;
    }

    private static Optional<MemberFacts> voter(ClusterFacts facts, MemberId id) {
        return facts.member(id).filter(MemberFacts::isVoter);
    }

    private static String wayOut(Step step, ClusterFacts facts) {
        if (facts.quorum().voters() == 1) {
            return "Add a second and a third member first (understudy cluster add)";
        }
        return facts.healthyVoters().size() < facts.voters().size()
                ? "First restart or remove the voting members that do not respond: " + dead(facts)
                : step instanceof Step.Promote
                        ? "Wait until the learner is healthy, or remove it (understudy cluster remove)"
                        : "Add a member first (understudy cluster add)";
    }

    /**
     * Rejects an addition that etcd would reject: it needs the larger cluster's quorum connected. This holds for
     * learners, too; the connections must be five seconds old.
     *
     * <p>A single member may ({@code mayAddMember} in etcd's {@code server.go}).
     */
    static Optional<Refusal> etcdAdds(Step step, ClusterFacts facts) {
        Quorum now = facts.quorum();
        int needed = new Quorum(now.voters() + 1, 0).needed();
        if (!(step instanceof Step.AddLearner) || now.voters() == 1 || now.healthy() >= needed) {
            return Optional.empty();
        }
        return Optional.of(new Refusal(
                "etcd-adds",
                "etcd adds a member, even a learner, only if " + needed + " of the " + now.voters()
                        + " voting members are connected (the quorum of the larger cluster); healthy: "
                        + now.healthy()
                        + ", not healthy: " + dead(facts),
                "Restart them. Remove a lost one before adding a member (understudy cluster replace does both)"));
    }

    static Optional<Refusal> leaderIsHealthyVoter(Step step, ClusterFacts facts) {
        if (!(step instanceof Step.MoveLeader move)
                || voter(facts, move.id()).filter(MemberFacts::isHealthy).isPresent()) {
            return Optional.empty();
        }
        return Optional.of(new Refusal(
                "leader-healthy-voter",
                move.label() + " is not a healthy voting member and cannot be the leader",
                "Choose one of " + names(facts.healthyVoters())));
    }

    private static String dead(ClusterFacts facts) {
        String dead = names(
                facts.voters().stream().filter(voter -> !voter.isHealthy()).toList());
        return dead.isEmpty() ? "none" : dead;
    }

    static String names(List<MemberFacts> members) {
        return members.stream().map(MemberFacts::label).collect(joining(", "));
    }
}
