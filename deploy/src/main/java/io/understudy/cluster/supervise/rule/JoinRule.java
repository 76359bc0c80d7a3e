package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import java.util.Optional;

/**
 * A learner that etcd was told of is brought up on its machine, or removed again; nothing else is changed meanwhile. Those
 * on machines we know nothing of are their operator's: they are neither waited for nor removed.
 */
final class JoinRule {

    private static final String NAME = "join";

    private JoinRule() {}

    static Optional<Decision> bringUp(Situation situation) {
        return situation.facts().learners().stream()
                .filter(learner -> !learner.hasStarted())
                .flatMap(
                        learner -> situation.placeOf(learner).map(place -> bringUp(situation, learner, place)).stream())
                .findFirst();
    }

    private static Decision bringUp(Situation situation, MemberFacts learner, Place place) {
        boolean late = History.lasted(
                Optional.of(situation.seen(learner).first()), situation.limits().joinDeadline(), situation.now());
        if (late) {
            return Rules.change(
                    situation,
                    "join-rollback",
                    learner.label() + " has not started within "
                            + situation.limits().joinDeadline().toSeconds() + " s",
                    "it is removed again; its machine is left alone for a while",
                    new Step.Remove(learner.id(), learner.label()));
        }
        Step join = new Step.Join(place.spec(), learner.id());
        // Its operator was told how, and needs no telling again and again.
        boolean told = place.running().isEmpty() && situation.wasEverOrdered(join);
        return !place.answers() || place.running().orElse(false) || told || situation.wasOrdered(join)
                ? new Decision.Waiting(NAME, learner.label() + " is joining", "waits until it has started")
                : Rules.change(
                        situation,
                        NAME,
                        place.name() + " was added and has not started",
                        "its process is started, without data",
                        join);
    }

    /** One of ours that has started and is not of use yet, or no more; once it is dead it gives its slot to another. */
    static Optional<Decision> await(Situation situation) {
        return situation.facts().learners().stream()
                .filter(learner -> learner.hasStarted() && !learner.isHealthy())
                .filter(learner -> situation.placeOf(learner).isPresent())
                .findFirst()
                .map(learner -> new Decision.Waiting(NAME, learner.label() + " is not healthy", "waits until it is"));
    }
}
