package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.cluster.shape.Shape;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Assigns the learner slots, of which etcd before 3.6 has one: future voters first, then standbys, then read replicas.
 *
 * <p>A read replica gives way to a future voter.
 */
final class LearnerRules {

    private static final String SLOT = "learner-slot";
    private static final String STANDBY = "standby";
    private static final String REPLICA = "read-replica";

    private LearnerRules() {}

    /** A dead learner gives its slot to another; those on machines we know nothing of are their operator's. */
    static Optional<Decision> dead(Situation situation) {
        return situation.facts().learners().stream()
                .filter(situation::isDead)
                .filter(learner -> situation.placeOf(learner).isPresent())
                // Silence of several may be a fault of the network, or of this supervisor.
                .filter(learner -> Diagnosis.isDown(situation, learner)
                        || situation.facts().voters().stream().allMatch(MemberFacts::isHealthy))
                .findFirst()
                .map(learner -> replace(situation, learner));
    }

    private static Decision replace(Situation situation, MemberFacts learner) {
        return Rules.change(
                situation,
                "dead-learner",
                situation.described(learner),
                "it is removed; another takes its slot",
                new Step.Remove(learner.id(), learner.label()));
    }

    /** A learner that is to become a voter; a machine that something was wrong with goes first, while nothing depends on it. */
    static Optional<Decision> addForVoter(Situation situation, String observed) {
        boolean odd = situation.facts().voters().size() % 2 == 1;
        Comparator<Place> leastSetBack = Comparator.comparingInt(situation::setbacks);
        Optional<Place> place = usable(situation, name -> situation.shape().mayPromote(name)).stream()
                .min(odd ? leastSetBack.reversed() : leastSetBack);
        return place.map(chosen -> situation.isSlotFree()
                ? add(situation, "automatic-promotion", observed, chosen)
                : giveWay(situation, observed, chosen));
    }

    private static Decision giveWay(Situation situation, String observed, Place successor) {
        Optional<MemberFacts> replica = situation.facts().learners().stream()
                .filter(learner -> !situation.mayPromote(learner))
                .filter(learner -> situation.placeOf(learner).isPresent())
                .findFirst();
        return replica.<Decision>map(learner -> Rules.change(
                        situation,
                        SLOT,
                        observed + "; the read replica " + learner.label() + " holds the learner slot",
                        "it gives way until " + successor.name()
                                + " votes, then joins again; gateways continue from their memory",
                        new Step.Remove(learner.id(), learner.label())))
                .orElseGet(() -> new Decision.Waiting(
                        SLOT,
                        observed,
                        "the learner slots are taken by "
                                + Rules.names(situation.facts().learners())));
    }

    static Optional<Decision> standby(Situation situation) {
        Shape shape = situation.shape();
        int wanted = shape.readReplicasAreStandbys() ? shape.learners() : shape.standbys();
        int present = situation.promotableLearners().size();
        if (present >= wanted) {
            return Optional.empty();
        }
        String observed = present + " standbys of " + wanted;
        if (!situation.isSlotFree()) {
            return Optional.of(new Decision.Waiting(
                    STANDBY,
                    observed,
                    "the learner slot is held by "
                            + Rules.names(situation.facts().learners())
                            + "; shape.readReplicasAreStandbys lets a read replica be the standby"));
        }
        return usable(situation, shape::mayPromote).stream()
                .min(Comparator.comparing((Place place) -> !shape.readReplicas().contains(place.name()))
                        .thenComparingInt(situation::setbacks))
                .map(place -> add(situation, STANDBY, observed, place))
                .or(() -> noMachine(situation, STANDBY, observed, situation.freePlaces()));
    }

    static Optional<Decision> readReplica(Situation situation) {
        Predicate<String> isReplica = name -> !situation.shape().mayPromote(name);
        List<Place> missing = situation.freePlaces().stream()
                .filter(place -> isReplica.test(place.name()))
                .toList();
        if (missing.isEmpty()) {
            return Optional.empty();
        }
        String observed = missing.get(0).name() + " is to be a read replica and is no member";
        if (!situation.isSlotFree()) {
            return Optional.of(new Decision.Waiting(
                    REPLICA,
                    observed,
                    "the learner slot is held by "
                            + Rules.names(situation.facts().learners())));
        }
        return usable(situation, isReplica).stream()
                .findFirst()
                .map(place -> add(situation, REPLICA, observed, place))
                .or(() -> noMachine(situation, REPLICA, observed, missing));
    }

    /** Reported only of machines that are waited for: without any there is no action. */
    private static Optional<Decision> noMachine(Situation situation, String rule, String observed, List<Place> free) {
        return free.stream()
                .filter(situation::isHeldOff)
                .findFirst()
                .map(place -> new Decision.Waiting(
                        rule, observed, place.name() + " is left alone for a while, as its last member died"));
    }

    private static List<Place> usable(Situation situation, Predicate<String> names) {
        return situation.usablePlaces().stream()
                .filter(place -> names.test(place.name()))
                .toList();
    }

    private static Decision add(Situation situation, String rule, String observed, Place place) {
        Quorum now = situation.quorum();
        int connected = new Quorum(now.voters() + 1, 0).needed();
        if (now.voters() > 1 && now.healthy() < connected) {
            return new Decision.Waiting(
                    rule,
                    observed,
                    "etcd adds no member, not even a learner, unless " + connected + " voters are healthy; "
                            + now.healthy() + " are");
        }
        if (situation.wasOrdered(new Step.AddLearner(place.spec()))) {
            return new Decision.Waiting(rule, observed, place.name() + " was to be added just now");
        }
        return Rules.change(
                situation, rule, observed, place.name() + " is added as a learner", new Step.AddLearner(place.spec()));
    }
}
