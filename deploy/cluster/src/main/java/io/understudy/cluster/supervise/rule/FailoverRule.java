package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.plan.Projection;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Removes a dead voter, then promotes a standby: this order needs the fewest votes. It is removed only if its
 * replacement is possible in the same observation.
 */
final class FailoverRule {

    private static final String NAME = "standby-failover";

    /** Changes of a replacement: one voter removed, one added. */
    private static final int CHANGES = 2;

    private FailoverRule() {}

    /** Returns only a change possible now: waiting must not delay later rules. */
    static Optional<Decision> change(Situation situation) {
        return replaceDeadVoter(situation).filter(decision -> decision instanceof Decision.Change);
    }

    static Optional<Decision> replaceDeadVoter(Situation situation) {
        List<Decision> decisions = situation.facts().voters().stream()
                .filter(situation::isDead)
                .map(dead -> replace(situation, dead))
                .toList();
        return decisions.stream()
                .filter(decision -> decision instanceof Decision.Change)
                .findFirst()
                .or(() -> decisions.stream().findFirst());
    }

    private static Decision replace(Situation situation, MemberFacts dead) {
        String observed = situation.described(dead);
        Optional<Decision> unsafe = unsafe(situation, dead, observed);
        if (unsafe.isPresent()) {
            return unsafe.get();
        }
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

    /** Returns why the member list must not change now in any case. */
    private static Optional<Decision> unsafe(Situation situation, MemberFacts dead, String observed) {
        Quorum after = situation.quorum().minusVoter(false);
        if (!situation.facts().isConfirmed() || !after.isHeld()) {
            return Optional.of(new Decision.Waiting(
                    NAME, observed, "not removed: the remaining voting members are no healthy quorum: " + after));
        }
        // The end of a process is certain; silence of several may be a fault of the network, or of this supervisor.
        List<MemberFacts> others = situation.facts().voters().stream()
                .filter(voter -> !voter.id().equals(dead.id()))
                .filter(voter -> !voter.isHealthy()
                        && !Diagnosis.isDown(situation, voter)
                        && !Diagnosis.isHeard(situation.facts(), voter))
                .toList();
        return others.isEmpty() || Diagnosis.isDown(situation, dead)
                ? Optional.empty()
                : Optional.of(new Decision.Waiting(
                        NAME,
                        observed,
                        "not removed: several voting members are silent at once, also " + Rules.names(others)
                                + "; remove one by hand if it is lost"));
    }

    private static Decision withoutStandby(Situation situation, MemberFacts dead, String observed) {
        Optional<String> outdated = situation.placeOf(dead).flatMap(Place::outdated);
        if (outdated.isPresent()) {
            return new Decision.Waiting(NAME, observed, "neither started nor removed: " + outdated.get());
        }
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
        if (spare.isEmpty()) {
            List<String> mute = situation.freePlaces().stream()
                    .filter(place -> !place.answers())
                    .map(Place::name)
                    .toList();
            return new Decision.Waiting(
                    NAME,
                    observed,
                    "not removed: there is no standby, and no machine for another"
                            + (mute.isEmpty() ? "" : "; not usable, see the log: " + String.join(", ", mute)));
        }
        List<Place> own = spare.stream().filter(Place::isKnownToBeDown).toList();
        if (own.isEmpty()) {
            String successor = spare.get(0).name();
            return new Decision.Waiting(
                    NAME,
                    observed,
                    "not removed: there is no standby, and " + successor
                            + " is started manually: understudy cluster replace " + dead.label() + " --with "
                            + successor);
        }
        Optional<ClusterFacts> room =
                LearnerRules.withSlot(situation, Projection.after(situation.facts(), removal(dead)));
        if (room.isEmpty()) {
            return new Decision.Waiting(
                    NAME, observed, "not removed: there is no standby, and " + LearnerRules.taken(situation));
        }
        List<Refusal> refusals = Preflight.check(new Step.AddLearner(own.get(0).spec()), room.get());
        return refusals.isEmpty()
                ? remove(
                        situation,
                        dead,
                        observed,
                        "it is removed, then a new member is to join on "
                                + own.get(0).name())
                : notYet(observed, refusals);
    }

    /** Returns refusals of the promotion after the removal of the dead voter. */
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

    /** Restarts the member once per fault. */
    private static Optional<Decision> restart(Situation situation, MemberFacts dead, Place place, String observed) {
        Instant since = situation.seen(dead).fault().orElseThrow().since();
        return RestartRule.wasTried(situation.history(), place, since)
                        && situation.wasOrdered(new Step.Start(place.spec()))
                ? Optional.of(new Decision.Waiting(NAME, observed, "its process was started just now"))
                : RestartRule.start(situation, dead, since, "there is no standby");
    }

    private static Decision remove(Situation situation, MemberFacts dead, String observed, String action) {
        return new Decision.Change(
                NAME,
                observed,
                action,
                removal(dead),
                situation.quorum(),
                situation.quorum().minusVoter(false));
    }
}
