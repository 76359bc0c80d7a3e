package io.understudy.cluster.supervise;

import io.understudy.cluster.supervise.rule.Decision;
import java.time.Instant;

/**
 * A decision that differs from the one before, and what became of it.
 *
 * @param outcome in words; begins with one of {@link Outcome}
 */
public record Event(Instant at, Decision decision, Outcome outcome, String detail) {

    /** The outcome of a decision. */
    public enum Outcome {
        /** The step was taken. */
        DONE,
        /** A machine was ordered to, and has not done it yet. */
        ORDERED,
        /** A rule of the preflight rejected it. */
        REFUSED,
        /** etcd, or a machine, would not do it. Nothing has happened. */
        FAILED,
        /** The effect is unknown until the next observation. */
        UNKNOWN,
        /** The supervisor is paused. */
        PAUSED,
        /** Another supervisor is active, or the active one is unknown. */
        NOT_ACTIVE,
        /** There was nothing to be done. */
        NONE
    }

    boolean isLike(Event other) {
        return decision.rule().equals(other.decision.rule())
                && decision.action().equals(other.decision.action())
                && outcome == other.outcome;
    }
}
