package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.plan.Step;

/** Keys of steps in the history, so that a step is not repeated at once. */
final class Orders {

    /** Whatever the target. */
    static final String MOVE_LEADER = "move leader";

    private Orders() {}

    static String key(Step step) {
        if (step instanceof Step.AddLearner add) {
            return "add " + add.member().name();
        }
        if (step instanceof Step.Join join) {
            return "join " + join.member().name() + " " + join.id();
        }
        if (step instanceof Step.Start start) {
            return "start " + start.member().name();
        }
        if (step instanceof Step.Retire retire) {
            return "retire " + retire.member().name();
        }
        if (step instanceof Step.MoveLeader) {
            return MOVE_LEADER;
        }
        return step.toString();
    }
}
