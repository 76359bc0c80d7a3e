package io.understudy.cluster.goal;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.NextStep;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.util.Optional;

/** A member less; if it leads, another does first. */
public record RemoveMember(MemberId member) implements NextStep {

    @Override
    public Next after(ClusterFacts facts) {
        Optional<MemberFacts> listed = facts.member(member);
        if (listed.isEmpty()) {
            return new Next.Reached("no member has the ID " + member);
        }
        Optional<Step> handOver = Leadership.away(facts, listed.get());
        return new Next.Do(
                handOver.orElseGet(() -> new Step.Remove(member, listed.get().label())));
    }
}
