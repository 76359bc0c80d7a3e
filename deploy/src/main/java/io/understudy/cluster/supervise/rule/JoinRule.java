package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import java.util.Optional;

/** A learner that etcd was told of is brought up, or removed again; nothing else is changed meanwhile. */
final class JoinRule {

    private static final String NAME = "join";

    private JoinRule() {}

    static Optional<Decision> bringUp(Situation situation) {
        return situation.facts().learners().stream()
                .filter(situation::isJoining)
                .findFirst()
                .map(learner -> bringUp(situation, learner));
    }

    private static Decision bringUp(Situation situation, MemberFacts learner) {
        boolean late = History.lasted(
                Optional.of(situation.seen(learner).first()), situation.limits().joinDeadline(), situation.now());
        if (late) {
            return Rules.change(
                    situation,
                    "join-rollback",
                    learner.label() + " has not become healthy within "
                            + situation.limits().joinDeadline().toSeconds() + " s",
                    "it is removed again; its machine is left alone for a while",
                    new Step.Remove(learner.id(), learner.label()));
        }
        Optional<Place> place = situation.placeOf(learner);
        boolean toStart = !learner.hasStarted()
                && place.isPresent()
                && !place.get().running().orElse(false)
                && !situation.wasOrdered(new Step.Join(place.get().spec(), learner.id()));
        return toStart
                ? Rules.change(
                        situation,
                        NAME,
                        place.get().name() + " was added and has not started",
                        "its process is started, without data",
                        new Step.Join(place.get().spec(), learner.id()))
                : new Decision.Waiting(NAME, learner.label() + " is joining", "waits until it is healthy");
    }
}
