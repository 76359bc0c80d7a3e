package io.understudy.cluster.goal;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.NextStep;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.util.Optional;

/** A given voter leads. */
public record MoveLeadership(MemberId to) implements NextStep {

    @Override
    public Next after(ClusterFacts facts) {
        Optional<MemberFacts> leader = facts.leader();
        String label = facts.member(to).map(MemberFacts::label).orElse(to.toString());
        if (leader.isEmpty()) {
            return Next.impossible("leader-known", "the cluster has no leader", "Retry after the election");
        }
        return leader.get().id().equals(to)
                ? new Next.Reached(label + " leads")
                : new Next.Do(new Step.MoveLeader(leader.get().id(), to, label));
    }
}
