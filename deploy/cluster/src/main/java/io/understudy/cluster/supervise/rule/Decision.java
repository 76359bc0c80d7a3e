package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import java.util.List;

/** What follows from a look: why, by which rule, and what is done. */
public sealed interface Decision {

    /** Its name, such as {@code standby-failover}. */
    String rule();

    /** What it follows from, in words. */
    String observed();

    /** What is done, or waited for, in words. */
    String action();

    /** The next step, taken if this supervisor is active and not paused. */
    record Change(String rule, String observed, String action, Step step, Quorum before, Quorum after)
            implements Decision {}

    /** Something is not as declared, and nothing can be done about it yet. */
    record Waiting(String rule, String observed, String action) implements Decision {}

    /**
     * Nothing can be decided by the members any more, so nothing is changed.
     *
     * @param guidance what an operator can do, line by line
     */
    record QuorumLost(String observed, List<String> guidance) implements Decision {
        public QuorumLost {
            guidance = List.copyOf(guidance);
        }

        @Override
        public String rule() {
            return "quorum-lost";
        }

        @Override
        public String action() {
            return "nothing is changed; " + String.join(" ", guidance);
        }
    }

    /** As declared, as far as that is possible. */
    record Settled(String observed) implements Decision {
        @Override
        public String rule() {
            return "settled";
        }

        @Override
        public String action() {
            return "nothing to do";
        }
    }
}
