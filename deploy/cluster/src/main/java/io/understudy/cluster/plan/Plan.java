package io.understudy.cluster.plan;

import io.understudy.cluster.quorum.Quorum;
import java.util.List;

/** The plan for a {@link Goal}. */
public sealed interface Plan {

    /** The goal is reached. */
    record Done(String why) implements Plan {}

    /** The goal cannot be reached, now or ever. */
    record Refused(List<Refusal> refusals) implements Plan {
        public Refused {
            refusals = List.copyOf(refusals);
        }
    }

    /** These steps, in this order, as far as they can be planned now. Not empty. */
    record Steps(List<Planned> steps) implements Plan {
        public Steps {
            steps = List.copyOf(steps);
        }
    }

    /**
     * A step with its arithmetic.
     *
     * @param isFinal whether what it does can't be undone
     */
    record Planned(Step step, String action, Quorum before, Quorum after, boolean isFinal) {}

    /**
     * The reason why a step is not taken.
     *
     * @param rule its name, for people to look up, such as {@code quorum-survives}
     * @param why what was observed, and what would follow
     * @param wayOut what to do instead
     */
    record Refusal(String rule, String why, String wayOut) {

        /** Returns the refusal in one line. */
        @Override
        public String toString() {
            return rule + ": " + why + ". " + wayOut;
        }
    }
}
