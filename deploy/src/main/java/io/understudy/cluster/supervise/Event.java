package io.understudy.cluster.supervise;

import io.understudy.cluster.supervise.rule.Decision;
import java.time.Instant;

/**
 * A decision that differs from the one before, and what became of it.
 *
 * @param outcome in words; begins with one of {@link Outcome}
 */
public record Event(Instant at, Decision decision, Outcome outcome, String detail) {

    /** What became of a decision. */
    public enum Outcome {
        /** The step was taken. */
        DONE,
        /** A machine was ordered to, and has not done it yet. */
        ORDERED,
        /** We would not take it: a rule of the preflight says no. */
        REFUSED,
        /** etcd, or a machine, would not do it. Nothing has happened. */
        FAILED,
        /** It may have been done; the next look tells. */
        UNKNOWN,
        /** Somebody paused the supervisor. */
        PAUSED,
        /** Another supervisor acts, or nobody can say who does. */
        NOT_ACTIVE,
        /** There was nothing to be done. */
        NONE
    }

    boolean isLike(Event other) {
        return decision.rule().equals(other.decision.rule())
                && decision.told().equals(other.decision.told())
                && outcome == other.outcome;
    }
}
