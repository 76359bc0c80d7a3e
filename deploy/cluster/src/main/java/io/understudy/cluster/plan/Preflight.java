package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * What etcd does not check, or only when it is too late: whether a step may be taken, the cluster being as it is now. Pure
 * functions.
 */
public final class Preflight {

    /** Each returns empty if the step may be taken. */
    private static final List<BiFunction<Step, ClusterFacts, Optional<Refusal>>> RULES = List.of(
            QuorumRules::quorumSurvives,
            QuorumRules::etcdAdds,
            QuorumRules::leaderIsHealthyVoter,
            MemberRules::isMember,
            MemberRules::oneChangeAtATime,
            MemberRules::learnerSlotIsFree,
            MemberRules::learnerStaysLearner,
            MemberRules::peerUrlIsServed,
            UrlRules::wellFormed,
            UrlRules::notInUse,
            UrlRules::nameNotInUse,
            SanityRules::versions);

    private Preflight() {}

    /** How members contradict each other, and the remedy; empty if they do not. */
    public static Optional<Refusal> contradiction(ClusterFacts facts) {
        return facts.divergence().isNone() ? Optional.empty() : Optional.of(MemberRules.differ(facts));
    }

    /** Every reason why the step must not be taken now; none if it may. */
    public static List<Refusal> check(Step step, ClusterFacts facts) {
        Optional<Refusal> lost = QuorumRules.quorumIsHeld(step, facts).or(() -> MemberRules.membersAgree(step, facts));
        return lost.isPresent()
                ? List.of(lost.get())
                : RULES.stream()
                        .flatMap(rule -> rule.apply(step, facts).stream())
                        .toList();
    }
}
