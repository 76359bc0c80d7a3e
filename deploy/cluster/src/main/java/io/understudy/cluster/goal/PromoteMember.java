package io.understudy.cluster.goal;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.NextStep;
import io.understudy.vocabulary.MemberId;
import java.util.Optional;

/** A learner votes, once it has caught up. */
public record PromoteMember(MemberId member) implements NextStep {

    @Override
    public Next after(ClusterFacts facts) {
        Optional<MemberFacts> listed = facts.member(member);
        if (listed.isEmpty()) {
            return Next.impossible("is-member", "no member has the ID " + member, "See understudy cluster status");
        }
        MemberFacts found = listed.get();
        if (found.isVoter()) {
            return new Next.Reached(found.label() + " is a voting member");
        }
        if (!found.hasStarted() || found.answer().isEmpty()) {
            return Next.impossible(
                    "learner-serves",
                    found.label() + (found.hasStarted() ? " does not respond" : " was never started")
                            + ", so it cannot get in sync",
                    "Start it, or remove it (understudy cluster remove " + found.label() + ")");
        }
        return Promotion.next(facts, found);
    }
}
