package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;

/**
 * The desired state of a cluster, as a pure function of the observed state.
 *
 * <p>It is evaluated again after every step, so an interrupted change resumes from the state that it left.
 */
@FunctionalInterface
public interface Goal {

    /** Returns the plan from the current state to the goal. */
    Plan plan(ClusterFacts facts);

    /** Whether a failed step removes the member again that it added. */
    default boolean undoes(Step step) {
        return false;
    }

    /** Whether the other steps continue when the step fails. */
    default boolean passes(Step step) {
        return false;
    }
}
