package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.cluster.supervise.rule.History.Orders;
import java.time.Instant;
import java.util.Optional;

/**
 * Starts a stopped local member with its data, once per fault. That changes no member list, so it needs neither an
 * election nor a quorum.
 */
final class RestartRule {

    private static final String NAME = "restart";

    private RestartRule() {}

    /**
     * Starts members as the first remedy of a lost quorum. It does so at once if too few processes run for an election,
     * else after the time for one.
     */
    static Optional<Decision> withoutQuorum(Situation situation) {
        return situation
                .history()
                .lostSince()
                .filter(since -> isLost(situation)
                        || hasStarted(situation, since)
                        || History.lasted(Optional.of(since), situation.limits().dead(), situation.now()))
                .flatMap(since -> situation.facts().voters().stream()
                        .flatMap(voter -> start(situation, voter, since, "the quorum is lost").stream())
                        .findFirst());
    }

    private static boolean isLost(Situation situation) {
        return situation.facts().voters().stream()
                        .filter(voter -> !Diagnosis.isDown(situation, voter))
                        .count()
                < situation.quorum().needed();
    }

    /** Whether a member was started for this loss: then the others follow. */
    private static boolean hasStarted(Situation situation, Instant since) {
        return situation.facts().voters().stream()
                .flatMap(voter -> situation.placeOf(voter).stream())
                .anyMatch(place -> wasTried(situation.history(), place, since));
    }

    /**
     * Starts a member that no supervisor has replaced within twice {@link Limits#dead} since its process ended. Whether
     * this supervisor reaches the leader does not matter.
     */
    static Optional<Decision> unreplaced(Situation situation) {
        return situation.facts().members().stream()
                .flatMap(member -> situation
                        .seen(member)
                        .downSince()
                        .filter(since -> History.lasted(
                                Optional.of(since), situation.limits().dead().multipliedBy(2), situation.now()))
                        .flatMap(since -> start(situation, member, since, "no supervisor replaces it"))
                        .stream())
                .findFirst();
    }

    /** Returns the start of a member. Empty if its process may run, or was started after {@code since}. */
    static Optional<Decision> start(Situation situation, MemberFacts member, Instant since, String why) {
        return situation
                .placeOf(member)
                .filter(place -> place.isNamesake(member) && member.answer().isEmpty())
                .filter(place -> Rules.isStartable(place, situation.history(), since))
                .map(place -> Rules.change(
                        situation,
                        NAME,
                        situation.described(member) + "; " + why,
                        "its process is started with the data it has",
                        new Step.Start(place.spec())));
    }

    static boolean wasTried(History history, Place place, Instant since) {
        Instant ordered = history.orders().get(Orders.key(new Step.Start(place.spec())));
        return ordered != null && !ordered.isBefore(since);
    }
}
