package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.plan.Projection;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.shape.Shape;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * Assigns learner slots: to future voters first, then standbys, then read replicas. Before 3.6, etcd has one slot.
 *
 * <p>A read replica gives way to a future voter.
 */
final class LearnerRules {

    private static final String SLOT = "learner-slot";
    private static final String STANDBY = "standby";
    private static final String REPLICA = "read-replica";

    private LearnerRules() {}

    /**
     * Starts a dead learner once per fault. Removes it if that failed, or if another machine can take its slot, or its
     * own. Those on unknown machines are left to their operator.
     */
    static Optional<Decision> dead(Situation situation) {
        List<MemberFacts> dead = situation.facts().learners().stream()
                .filter(learner -> isReplaced(situation, situation.facts(), learner))
                .toList();
        return dead.stream()
                .flatMap(learner ->
                        RestartRule.start(situation, learner, since(situation, learner), "it may be in sync soon")
                                .stream())
                .findFirst()
                .or(() -> dead.stream()
                        .filter(learner -> didNotStart(situation, learner)
                                || hasSuccessor(situation, learner)
                                || mayJoinAgain(situation, learner))
                        .findFirst()
                        .map(learner -> replace(situation, learner)));
    }

    private static Instant since(Situation situation, MemberFacts learner) {
        return situation.seen(learner).fault().orElseThrow().since();
    }

    private static boolean didNotStart(Situation situation, MemberFacts learner) {
        return situation
                .placeOf(learner)
                .filter(Place::isKnownToBeDown)
                .filter(place -> RestartRule.wasTried(situation.history(), place, since(situation, learner)))
                .isPresent();
    }

    /** Whether its hung process can be ended, so that it joins again. A frozen disk may thaw before. */
    private static boolean mayJoinAgain(Situation situation, MemberFacts learner) {
        return situation.finding(learner).state() == MemberState.HUNG
                && situation.placeOf(learner).flatMap(Place::running).orElse(false)
                && History.lasted(
                        Optional.of(since(situation, learner)),
                        situation.limits().dead().multipliedBy(2),
                        situation.now());
    }

    /** Whether a machine that needs no operator would take the learner's slot. */
    private static boolean hasSuccessor(Situation situation, MemberFacts learner) {
        Shape shape = situation.shape();
        boolean isStandby = situation.mayPromote(learner);
        boolean isNeeded = !isStandby && !situation.isSlotFree();
        boolean isStandbyMissing = isNeeded && situation.promotableLearners().size() < standbys(shape);
        return situation.usablePlaces().stream()
                .filter(Place::isKnownToBeDown)
                .anyMatch(place -> shape.mayPromote(place.name()) ? isStandby || isStandbyMissing : isNeeded);
    }

    private static boolean isReplaced(Situation situation, ClusterFacts facts, MemberFacts learner) {
        return situation.isDead(learner)
                && situation
                        .placeOf(learner)
                        .filter(place -> !situation.wasOrdered(new Step.Start(place.spec())))
                        .isPresent()
                // Silence of several may be a fault of the network, or of this supervisor.
                && (Diagnosis.isDown(situation, learner)
                        || facts.voters().stream().allMatch(MemberFacts::isHealthy));
    }

    /** Returns a dead learner, or else a read replica. */
    private static Optional<MemberFacts> yielding(Situation situation, ClusterFacts facts) {
        return facts.learners().stream()
                .filter(learner -> isReplaced(situation, facts, learner))
                .findFirst()
                .or(() -> facts.learners().stream()
                        .filter(learner -> !situation.mayPromote(learner))
                        .filter(learner -> situation.placeOf(learner).isPresent())
                        .findFirst());
    }

    /** Returns the cluster once a future voter has a slot. Empty if all slots stay taken. */
    static Optional<ClusterFacts> withSlot(Situation situation, ClusterFacts facts) {
        return situation.isSlotFree()
                ? Optional.of(facts)
                : yielding(situation, facts).map(learner -> Projection.after(facts, removal(learner)));
    }

    private static Step removal(MemberFacts learner) {
        return new Step.Remove(learner.id(), learner.label());
    }

    private static Decision replace(Situation situation, MemberFacts learner) {
        return Rules.change(
                situation,
                "dead-learner",
                situation.described(learner),
                "it is removed, so that another can join",
                removal(learner));
    }

    /** Adds a learner that will become a voter. A machine with setbacks comes first, while nothing depends on it. */
    static Optional<Decision> addForVoter(Situation situation, String observed) {
        boolean odd = situation.facts().voters().size() % 2 == 1;
        Comparator<Place> leastSetBack = Comparator.comparingInt(situation::setbacks);
        // An even number needs another voter soon: on a machine that needs no operator.
        Comparator<Place> order = odd
                ? leastSetBack.reversed()
                : Comparator.comparing((Place place) -> !place.isKnownToBeDown())
                        .thenComparing(leastSetBack);
        return usable(situation, situation.shape()::mayPromote).stream()
                .min(order)
                .map(place -> {
                    Optional<ClusterFacts> room = withSlot(situation, situation.facts());
                    Decision add = room.map(facts -> add(situation, facts, "automatic-promotion", observed, place))
                            .orElseGet(() -> new Decision.Waiting(SLOT, observed, taken(situation)));
                    return situation.isSlotFree() || add instanceof Decision.Waiting
                            ? add
                            : giveWay(situation, observed, place);
                });
    }

    /** Removes a dead learner, or else a read replica, for a future voter. */
    private static Decision giveWay(Situation situation, String observed, Place successor) {
        MemberFacts replica = yielding(situation, situation.facts()).orElseThrow();
        if (situation.isDead(replica)) {
            return replace(situation, replica);
        }
        return Rules.change(
                situation,
                SLOT,
                observed + "; the read replica " + replica.label() + " holds the learner slot",
                "it gives way until " + successor.name()
                        + " votes, then joins again; gateways continue from their memory",
                removal(replica));
    }

    static String taken(Situation situation) {
        return "the learner slots are taken by " + Rules.names(situation.facts().learners());
    }

    static Optional<Decision> standby(Situation situation) {
        Shape shape = situation.shape();
        int wanted = standbys(shape);
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
                .map(place -> add(situation, situation.facts(), STANDBY, observed, place))
                .or(() -> noMachine(situation, STANDBY, observed, situation.freePlaces()));
    }

    private static int standbys(Shape shape) {
        return shape.readReplicasAreStandbys() ? shape.learners() : shape.standbys();
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
                .map(place -> add(situation, situation.facts(), REPLICA, observed, place))
                .or(() -> noMachine(situation, REPLICA, observed, missing));
    }

    /** Reports a machine that is held off; without any there is no action. */
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

    /** @param facts the cluster to which it is added */
    private static Decision add(Situation situation, ClusterFacts facts, String rule, String observed, Place place) {
        Step add = new Step.AddLearner(place.spec());
        List<Refusal> refusals = Preflight.check(add, facts);
        if (!refusals.isEmpty()) {
            return new Decision.Waiting(rule, observed, place.name() + " is not added: " + refusals.get(0));
        }
        if (situation.wasOrdered(add)) {
            return new Decision.Waiting(rule, observed, place.name() + " was to be added just now");
        }
        return Rules.change(situation, rule, observed, place.name() + " is added as a learner", add);
    }
}
