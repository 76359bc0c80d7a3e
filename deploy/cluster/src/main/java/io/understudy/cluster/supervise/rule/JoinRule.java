package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import java.util.Optional;

/**
 * Brings up an added learner on its machine, or removes it again. Nothing else is changed meanwhile.
 *
 * <p>Learners on machines outside the configuration are their operator's: neither waited for nor removed.
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
        if (place.outdated().isPresent()) {
            return new Decision.Waiting(
                    NAME,
                    learner.label() + " has not started",
                    "it is not started: " + place.outdated().get());
        }
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
        // The operator's instructions are printed once.
        boolean isOrdered = place.running().isEmpty() && situation.wasEverOrdered(join);
        return !place.answers() || place.running().orElse(false) || isOrdered || situation.wasOrdered(join)
                ? new Decision.Waiting(NAME, learner.label() + " is joining", "waits until it has started")
                : Rules.change(
                        situation,
                        NAME,
                        place.name() + " was added and has not started",
                        "its process is started, without data",
                        join);
    }

    /** Waits for a started learner on a configured machine. A dead one gives its slot to another. */
    static Optional<Decision> await(Situation situation) {
        return situation.facts().learners().stream()
                .filter(learner -> learner.hasStarted() && !learner.isHealthy())
                .filter(learner -> situation.placeOf(learner).isPresent())
                .findFirst()
                .map(learner -> new Decision.Waiting(NAME, learner.label() + " is not healthy", "waits until it is"));
    }
}
