package io.understudy.cluster.supervise;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.cluster.supervise.rule.Decision;
import io.understudy.cluster.supervise.rule.Finding;
import io.understudy.vocabulary.ElectionState;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The displayed state of a supervisor.
 *
 * @param paused why it changes nothing; empty if it may
 * @param facts facts of the last successful observation
 * @param findings states of the members in that look
 * @param lookedAt time of the last observation, successful or not
 * @param pace maximum time from one observation to the next
 * @param last what it decided last, and what became of it
 * @param events decisions that differed from the ones before, the last first
 */
public record SupervisorState(
        String name,
        ElectionState standing,
        Optional<String> paused,
        Shape shape,
        Limits limits,
        Optional<ClusterFacts> facts,
        Map<MemberId, Finding> findings,
        Optional<Instant> lookedAt,
        Duration pace,
        Optional<Event> last,
        List<Event> events) {

    public SupervisorState {
        findings = Map.copyOf(findings);
        events = List.copyOf(events);
    }

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
}
