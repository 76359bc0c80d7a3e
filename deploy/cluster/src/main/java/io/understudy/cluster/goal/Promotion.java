package io.understudy.cluster.goal;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.NextStep.Next;
import io.understudy.cluster.plan.Step;

/** The steps from a running learner to a voter. */
final class Promotion {

    private Promotion() {}

    static Next next(ClusterFacts facts, MemberFacts learner) {
        return new Next.Do(
                InSync.isSo(facts, learner)
                        ? new Step.Promote(learner.id(), learner.label())
                        : new Step.CatchUp(learner.id(), learner.label()));
    }
}
