package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import java.util.List;

/** The decision of an observation: its reason, rule and action. */
public sealed interface Decision {

    /** Returns the name of the rule, such as {@code standby-failover}. */
    String rule();

    /** Returns a description of the observed state. */
    String observed();

    /** Returns a description of the action or the awaited state. */
    String action();

    /** The next step, taken if this supervisor is active and not paused. */
    record Change(String rule, String observed, String action, Step step, Quorum before, Quorum after)
            implements Decision {}

    /** Something is not as declared, and nothing can be done about it yet. */
    record Waiting(String rule, String observed, String action) implements Decision {}

    /**
     * The quorum is lost, so nothing is changed.
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

    /** The cluster is as declared, as far as possible. */
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
