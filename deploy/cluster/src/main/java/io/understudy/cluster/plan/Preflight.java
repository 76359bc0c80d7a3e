package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/** Checks steps against rules that etcd does not check, or only too late. Pure functions. */
public final class Preflight {

    /** Rules that return empty if the step may be taken. */
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

    /** Returns the contradiction between members and its remedy; empty for none. */
    public static Optional<Refusal> contradiction(ClusterFacts facts) {
        return facts.divergence().isNone() ? Optional.empty() : Optional.of(MemberRules.differ(facts));
    }

    /** Returns every reason against the step; none if it may be taken. */
    public static List<Refusal> check(Step step, ClusterFacts facts) {
        Optional<Refusal> lost = QuorumRules.quorumIsHeld(step, facts).or(() -> MemberRules.membersAgree(step, facts));
        return lost.isPresent()
                ? List.of(lost.get())
                : RULES.stream()
                        .flatMap(rule -> rule.apply(step, facts).stream())
                        .toList();
    }
}
