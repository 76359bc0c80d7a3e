package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import java.util.List;

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

    /** A goal planned step by step from a cluster's current state; a pure function. */
    interface NextStep extends Goal {

        Next after(ClusterFacts facts);

        @Override
        default Plan plan(ClusterFacts facts) {
            return Planner.plan(facts, this);
        }

        /** The next step or the end of a plan. */
        sealed interface Next {

            record Do(Step step) implements Next {}

            record Reached(String why) implements Next {}

            record Impossible(List<Refusal> refusals) implements Next {
                public Impossible {
                    refusals = List.copyOf(refusals);
                }
            }

            static Next impossible(String rule, String why, String wayOut) {
                return new Impossible(List.of(new Refusal(rule, why, wayOut)));
            }
        }
    }
}
