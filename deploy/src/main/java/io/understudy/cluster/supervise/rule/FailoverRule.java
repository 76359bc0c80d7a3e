package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.plan.Projection;
import io.understudy.cluster.plan.Refusal;
import io.understudy.cluster.plan.Step;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * A dead voter is removed, then a standby promoted: in this order no step needs more votes than are alive. It is removed
 * only when there is somebody to take its place.
 */
final class FailoverRule {

    private static final String NAME = "standby-failover";

    /** Removing one voter and adding another. */
    private static final int CHANGES = 2;

    private FailoverRule() {}

    /** What can be done now; what has to be waited for must not hold up who is to take the dead one's place. */
    static Optional<Decision> change(Situation situation) {
        return replaceDeadVoter(situation).filter(decision -> decision instanceof Decision.Change);
    }

    static Optional<Decision> replaceDeadVoter(Situation situation) {
        return situation.facts().voters().stream()
                .filter(situation::isDead)
                .findFirst()
                .map(dead -> replace(situation, dead));
    }

    private static Decision replace(Situation situation, MemberFacts dead) {
        String observed = dead.label() + " has reached neither us nor a live member since "
                + situation.seen(dead).missingSince().orElseThrow();
        if (situation.facts().voters().size() > situation.target()) {
            return remove(situation, dead, observed, "it is removed: there are voters enough without it");
        }
        if (!situation.mayChange(CHANGES)) {
            return new Decision.Waiting(
                    NAME,
                    observed,
                    "not replaced: " + situation.history().changes().size()
                            + " voters were removed or added in the last hour, "
                            + situation.limits().changesPerHour() + " are allowed");
        }
        List<MemberFacts> ready = situation.readyStandbys();
        if (!ready.isEmpty()) {
            return ready.stream()
                    .filter(standby -> refusals(situation, dead, standby).isEmpty())
                    .findFirst()
                    .map(standby -> remove(
                            situation, dead, observed, "it is removed, then " + standby.label() + " is promoted"))
                    .orElseGet(() -> notYet(observed, refusals(situation, dead, ready.get(0))));
        }
        Optional<MemberFacts> coming = situation.promotableLearners().stream()
                .filter(learner -> !situation.isDead(learner))
                .findFirst();
        if (coming.isPresent()) {
            return new Decision.Waiting(
                    NAME, observed, "not removed yet: " + coming.get().label() + " is not ready to take its place");
        }
        return withoutStandby(situation, dead, observed);
    }

    private static Decision withoutStandby(Situation situation, MemberFacts dead, String observed) {
        Optional<Decision> restart = situation
                .placeOf(dead)
                .filter(place -> place.isNamesake(dead))
                .flatMap(place -> restart(situation, dead, place, observed));
        if (restart.isPresent()) {
            return restart.get();
        }
        List<Place> spare = situation.usablePlaces().stream()
                .filter(place -> situation.shape().mayPromote(place.name()))
                .toList();
        return spare.isEmpty()
                ? new Decision.Waiting(NAME, observed, "not removed: there is no standby, and no machine for another")
                : remove(
                        situation,
                        dead,
                        observed,
                        "it is removed, then a new member is to join on "
                                + spare.get(0).name());
    }

    /** What would forbid the promotion once the dead one is removed. */
    private static List<Refusal> refusals(Situation situation, MemberFacts dead, MemberFacts standby) {
        return Preflight.check(promotion(standby), Projection.after(situation.facts(), removal(dead)));
    }

    private static Decision notYet(String observed, List<Refusal> refusals) {
        return new Decision.Waiting(
                NAME, observed, "not removed yet, as no member could take its place: " + refusals.get(0));
    }

    private static Step promotion(MemberFacts standby) {
        return new Step.Promote(standby.id(), standby.label());
    }

    private static Step removal(MemberFacts dead) {
        return new Step.Remove(dead.id(), dead.label());
    }

    /** Once per outage. */
    private static Optional<Decision> restart(Situation situation, MemberFacts dead, Place place, String observed) {
        Step start = new Step.Start(place.spec());
        Instant ordered = situation.history().orders().get(Orders.key(start));
        boolean wasTried = ordered != null
                && ordered.isAfter(situation.seen(dead).missingSince().orElseThrow());
        if (wasTried) {
            return situation.wasOrdered(start)
                    ? Optional.of(new Decision.Waiting(NAME, observed, "its process was started just now"))
                    : Optional.empty();
        }
        return place.isKnownToBeDown()
                ? Optional.of(Rules.change(
                        situation,
                        "restart",
                        observed + ", its process is not there, and there is no standby",
                        "its process is started with the data it has",
                        start))
                : Optional.empty();
    }

    private static Decision remove(Situation situation, MemberFacts dead, String observed, String told) {
        return new Decision.Change(
                NAME,
                observed,
                told,
                removal(dead),
                situation.quorum(),
                situation.quorum().minusVoter(false));
    }
}
