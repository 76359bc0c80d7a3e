package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;

/**
 * What is wanted of a cluster. A pure function of what is observed, asked again after every step: whatever interrupted an
 * earlier attempt, what is left to do follows from how the cluster is now.
 */
@FunctionalInterface
public interface Goal {

    /** What leads from here to there. */
    Plan plan(ClusterFacts facts);

    /** Whether the member that a step was to bring in is to be removed again when the step fails. */
    default boolean undoes(Step step) {
        return false;
    }

    /** Whether the other steps continue when the step fails. */
    default boolean passes(Step step) {
        return false;
    }
}
