package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;
import java.util.List;

/** A goal planned step by step from a cluster's current state; a pure function. */
public interface NextStep extends Goal {

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
