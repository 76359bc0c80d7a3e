package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;
import java.util.List;

/** The next step towards a goal, from how a cluster is now; a pure function. */
@FunctionalInterface
public interface NextStep {

    Next after(ClusterFacts facts);

    /** What comes next. */
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
