package io.understudy.cluster.goal;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.NextStep;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Planner;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.util.Optional;

/** A given voter leads. */
public record MoveLeadership(MemberId to) implements Goal, NextStep {

    @Override
    public Plan plan(ClusterFacts facts) {
        return Planner.plan(facts, this);
    }

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
