package io.understudy.cluster.run;

import io.understudy.cluster.plan.Plan.Refusal;
import java.util.List;
import java.util.stream.Collectors;

/** The outcome of an attempt at a goal. */
public sealed interface Outcome {

    /** The goal is reached. */
    record Reached(String why) implements Outcome {}

    /** A rule forbids the next step; earlier steps are complete, and nothing else was done. */
    record Refused(List<Refusal> refusals) implements Outcome {
        public Refused {
            refusals = List.copyOf(refusals);
        }

        @Override
        public String toString() {
            return refusals.stream().map(Refusal::toString).collect(Collectors.joining("; "));
        }
    }

    /**
     * A step did not have its effect.
     *
     * @param isUndone whether what it began was undone
     */
    record Failed(String why, boolean isUndone) implements Outcome {

        @Override
        public String toString() {
            return why;
        }
    }
}
