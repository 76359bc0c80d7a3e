package io.understudy.cluster.supervise.rule;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * Decides the next change to a cluster, if any: the first rule that applies. If it waits, leadership may move and
 * processes of removed members may end meanwhile. A pure function of the situation, and the only place that orders the
 * rules.
 *
 * <p>Invariant DP22: no change is made that the healthy members could not survive, and clusters return to their shape
 * and keep it.
 */
public final class Rules {

    /** Rules, which return empty if they do not apply. */
    private static final List<Function<Situation, Optional<Decision>>> RULES = List.of(
            RestartRule::withoutQuorum,
            QuorumRule::lost,
            FailoverRule::change,
            RestartRule::unreplaced,
            VoterRules::complete,
            JoinRule::bringUp,
            VoterRules::grow,
            VoterRules::shrink,
            LearnerRules::dead,
            FailoverRule::replaceDeadVoter,
            Rules::retire,
            LearnerRules::standby,
            LearnerRules::readReplica,
            JoinRule::await,
            LeadershipRule::move,
            ReportRule::member,
            ReportRule::alarm,
            ReportRule::votingReplica,
            Rules::foreign);

    /** Rules that a waiting rule does not block: they change no member list. */
    private static final List<Function<Situation, Optional<Decision>>> UNBLOCKED =
            List.of(Rules::retire, LeadershipRule::move);

    private Rules() {}

    public static Decision decide(Situation situation) {
        Decision first = first(RULES, situation).orElseGet(() -> new Decision.Settled(summary(situation)));
        boolean isBlocked = first instanceof Decision.Waiting
                && situation.history().lostSince().isEmpty();
        return isBlocked ? first(UNBLOCKED, situation).orElse(first) : first;
    }

    private static Optional<Decision> first(List<Function<Situation, Optional<Decision>>> rules, Situation situation) {
        return rules.stream().flatMap(rule -> rule.apply(situation).stream()).findFirst();
    }

    /** Whether a process is known to have ended, may run, and was not started since then. */
    public static boolean isStartable(Place place, History history, Instant since) {
        return place.isKnownToBeDown() && place.outdated().isEmpty() && !RestartRule.wasTried(history, place, since);
    }

    /** Returns a change that an inactive supervisor makes, if any. */
    public static Optional<Decision.Change> withoutElection(Situation situation) {
        return RestartRule.unreplaced(situation)
                .filter(Decision.Change.class::isInstance)
                .map(Decision.Change.class::cast);
    }

    /**
     * Stops the process of a removed member, so that another can use its machine.
     *
     * <p>Otherwise the process may be of a member under another name, or of another cluster.
     */
    static Optional<Decision> retire(Situation situation) {
        return situation.freePlaces().stream()
                .filter(place -> place.running().orElse(false))
                .filter(situation::isLeft)
                .filter(place -> survivesEnd(situation))
                .filter(place -> !situation.wasOrdered(new Step.Retire(place.spec())))
                .findFirst()
                .map(place -> change(
                        situation,
                        "retire",
                        place.name() + " runs and was removed",
                        "its process is ended; it stays benched",
                        new Step.Retire(place.spec())));
    }

    /** Whether the quorum survives even if the process is that of a healthy voter. */
    private static boolean survivesEnd(Situation situation) {
        Quorum now = situation.quorum();
        return new Quorum(now.voters(), now.healthy() - 1).isHeld()
                || situation.facts().voters().stream()
                        .allMatch(voter -> situation.placeOf(voter).isPresent());
    }

    private static Optional<Decision> foreign(Situation situation) {
        return situation.freePlaces().stream()
                .filter(place -> place.running().orElse(false))
                .findFirst()
                .map(
                        place -> new Decision.Waiting(
                                "foreign-process",
                                place.name() + " runs, and no member has its name or peer URL",
                                "it is left alone, as it was not seen to be removed: stop it, or correct its name and URLs here"));
    }

    /** Returns a change that does not affect the quorum. */
    static Decision change(Situation situation, String rule, String observed, String action, Step step) {
        return new Decision.Change(rule, observed, action, step, situation.quorum(), situation.quorum());
    }

    private static String summary(Situation situation) {
        String benched = situation.freePlaces().stream().map(Place::name).collect(joining(", "));
        return situation.quorum() + "; learners: " + names(situation.facts().learners())
                + (benched.isEmpty() ? "" : "; benched: " + benched);
    }

    static String names(List<MemberFacts> members) {
        return members.isEmpty()
                ? "none"
                : members.stream().map(MemberFacts::label).collect(joining(", "));
    }
}
