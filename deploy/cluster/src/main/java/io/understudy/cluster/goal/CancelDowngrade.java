package io.understudy.cluster.goal;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.NextStep.Next;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Planner;
import io.understudy.cluster.plan.Step;

/** Ends a downgrade. Members that already run the earlier minor version keep it until they are upgraded again. */
public record CancelDowngrade() implements Goal {

    @Override
    public Plan plan(ClusterFacts facts) {
        return Planner.plan(
                facts,
                now -> now.enabledDowngrade().isPresent()
                        ? new Next.Do(new Step.Downgrade(""))
                        : new Next.Reached("no downgrade is enabled"));
    }
}
