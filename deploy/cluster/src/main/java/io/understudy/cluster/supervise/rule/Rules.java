package io.understudy.cluster.supervise.rule;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.Confirming;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.cluster.supervise.rule.History.Orders;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

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
            ReportRule::contradiction,
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
        boolean isBlocked = first instanceof Decision.Waiting && situation.isQuorumSeen();
        return isBlocked ? first(UNBLOCKED, situation).orElse(first) : first;
    }

    private static Optional<Decision> first(List<Function<Situation, Optional<Decision>>> rules, Situation situation) {
        return rules.stream().flatMap(rule -> rule.apply(situation).stream()).findFirst();
    }

    /** Whether a process is known to have ended, may run, and was not started since then. */
    public static boolean isStartable(Place place, History history, Instant since) {
        return place.isKnownToBeDown() && place.outdated().isEmpty() && !RestartRule.wasTried(history, place, since);
    }

    /** Returns the start of an own process that no supervisor has replaced, if any. An inactive supervisor makes it too. */
    public static Optional<Decision.Change> startUnreplaced(Situation situation) {
        return RestartRule.unreplaced(situation)
                .filter(Decision.Change.class::isInstance)
                .map(Decision.Change.class::cast);
    }

    /** Returns a move of leadership that needs no active supervisor, if any. */
    public static Optional<Decision.Change> moveFromStuckLeader(Situation situation) {
        return LeadershipRule.move(situation, MemberState.STUCK_LEADER::equals)
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

    /**
     * Brings up an added learner on its machine, or removes it again. Nothing else is changed meanwhile.
     *
     * <p>Learners on machines outside the configuration are their operator's: neither waited for nor removed.
     */
    private static final class JoinRule {

        private static final String NAME = "join";

        private JoinRule() {}

        static Optional<Decision> bringUp(Situation situation) {
            return situation.facts().learners().stream()
                    .filter(learner -> !learner.hasStarted())
                    .flatMap(learner ->
                            situation.placeOf(learner).map(place -> bringUp(situation, learner, place)).stream())
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
                    Optional.of(situation.seen(learner).first()),
                    situation.limits().joinDeadline(),
                    situation.now());
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

        /** Waits for a started learner on a configured machine; reports a dead one. */
        static Optional<Decision> await(Situation situation) {
            return situation.facts().learners().stream()
                    .filter(learner -> learner.hasStarted() && !learner.isHealthy())
                    .filter(learner -> situation.placeOf(learner).isPresent())
                    .findFirst()
                    .map(learner -> situation.isDead(learner)
                            ? new Decision.Waiting(
                                    "dead-learner",
                                    situation.described(learner),
                                    "not removed: no other machine can take its slot now; start it with the data it has")
                            : new Decision.Waiting(NAME, learner.label() + " is not healthy", "waits until it is"));
        }
    }

    /** Moves leadership from a slow, stuck or repeatedly failing leader to a healthy voting member. */
    private static final class LeadershipRule {

        /** Minimum time between moves, each of which briefly interrupts writes. */
        private static final Duration BETWEEN_MOVES = Duration.ofMinutes(10);

        private LeadershipRule() {}

        static Optional<Decision> move(Situation situation) {
            return move(situation, state -> state.action() == MemberState.Action.MOVE_LEADERSHIP);
        }

        static Optional<Decision> move(Situation situation, Predicate<MemberState> isReason) {
            Instant moved = situation.history().orders().get(Orders.MOVE_LEADER);
            if (moved != null && moved.plus(BETWEEN_MOVES).isAfter(situation.now())) {
                return Optional.empty();
            }
            return situation
                    .facts()
                    .namedLeader()
                    .filter(leader -> isReason.test(situation.finding(leader).state()))
                    .flatMap(leader -> situation.facts().voters().stream()
                            .filter(voter -> situation.finding(voter).state() == MemberState.HEALTHY)
                            .findFirst()
                            .map(voter -> move(situation, leader, voter)));
        }

        private static Decision move(Situation situation, MemberFacts leader, MemberFacts voter) {
            return Rules.change(
                    situation,
                    situation.finding(leader).state().label(),
                    situation.described(leader),
                    "leadership moves to " + voter.label(),
                    new Step.MoveLeader(leader.id(), voter.id(), voter.label()));
        }
    }

    /** Permits no change without a quorum. */
    private static final class QuorumRule {

        private QuorumRule() {}

        static Optional<Decision> lost(Situation situation) {
            if (situation.isQuorumSeen()) {
                return Optional.empty();
            }
            if (situation.history().lostSince().isEmpty()) {
                return RestartRule.unreplaced(situation)
                        .or(() -> Optional.of(cutOff(
                                situation,
                                Confirming.isPossible(situation.facts())
                                        ? "the cluster has a quorum; check the connections of this supervisor"
                                        : Confirming.WAY_OUT)));
            }
            String observed = situation.quorum() + "; answering: "
                    + Rules.names(answering(situation))
                    + (situation.facts().isConfirmed() ? "" : "; no quorum confirms the list of members");
            List<MemberFacts> started = situation.facts().voters().stream()
                    .filter(voter -> !voter.isHealthy()
                            && situation
                                    .placeOf(voter)
                                    .filter(place -> situation.wasOrdered(new Step.Start(place.spec())))
                                    .isPresent())
                    .toList();
            if (!started.isEmpty()) {
                return Optional.of(new Decision.Waiting(
                        "quorum-lost", observed, "waits for " + Rules.names(started) + ", started just now"));
            }
            // An election looks the same for a while.
            if (!History.lasted(
                    situation.history().lostSince(), situation.limits().dead(), situation.now())) {
                return Optional.of(new Decision.Waiting(
                        "quorum-lost", observed, "nothing is changed; an election may be under way"));
            }
            return Optional.of(
                    situation.facts().verdict() == ClusterFacts.Verdict.LOST
                            ? new Decision.QuorumLost(observed, guidance(situation))
                            : cutOff(
                                    situation,
                                    "the others may have a quorum; if they are lost for good: understudy cluster recover"));
        }

        private static Decision cutOff(Situation situation, String why) {
            Quorum quorum = situation.quorum();
            String failures = situation.facts().silence();
            return new Decision.Waiting(
                    "cut-off",
                    "this supervisor sees " + quorum.healthy() + " of " + quorum.voters() + " voting members healthy"
                            + (situation.facts().isConfirmed() ? "" : "; no quorum confirms the list of members")
                            + (failures.isEmpty() ? "" : "; " + failures),
                    "nothing is changed: " + why);
        }

        private static List<MemberFacts> answering(Situation situation) {
            return situation.facts().members().stream()
                    .filter(member -> member.answer().isPresent())
                    .toList();
        }

        private static MemberAnswer answer(MemberFacts member) {
            return member.answer().orElseThrow();
        }

        private static List<String> guidance(Situation situation) {
            List<String> lines = new ArrayList<>();
            lines.add(situation.quorum().needed() + " of " + situation.quorum().voters()
                    + " voters are needed; the best cure is to start these again, with the data they have: "
                    + situation.facts().voters().stream()
                            .filter(voter ->
                                    !voter.isHealthy() && voter.answer().isEmpty())
                            .map(MemberFacts::label)
                            .collect(joining(", "))
                    + ".");
            situation.facts().mostRecent().ifPresent(best -> {
                lines.add("Of those that answer " + best.label() + " has the most recent data: raft term "
                        + answer(best).raftTerm() + ", committed index "
                        + answer(best).raftIndex() + ", revision "
                        + answer(best).revision() + "; those that don't answer may have more.");
                lines.add(
                        "If they are lost for good: understudy cluster recover restores the quorum from the voters that"
                                + " have data; it keeps every old data directory. Stop all supervisors first: without a quorum"
                                + " they cannot be paused.");
            });
            return lines;
        }
    }

    /** Faults that no automatic change repairs. */
    private static final class ReportRule {

        private ReportRule() {}

        static Optional<Decision> contradiction(Situation situation) {
            return Preflight.contradiction(situation.facts())
                    .map(found -> new Decision.Waiting("members-differ", found.why(), found.wayOut()));
        }

        /** The rule is named after the member's state. */
        static Optional<Decision> member(Situation situation) {
            return situation.facts().members().stream()
                    .filter(member -> !situation.finding(member).is(MemberState.Action.NONE))
                    .filter(member -> member.hasStarted())
                    .findFirst()
                    .map(member -> {
                        MemberState state = situation.finding(member).state();
                        String action = state.action() == MemberState.Action.WAIT
                                ? "waits until the fault has lasted "
                                        + situation.limits().dead().toSeconds()
                                        + " s for this supervisor and for the leader"
                                : "no automatic change repairs this";
                        return new Decision.Waiting(state.label(), situation.described(member), action);
                    });
        }

        static Optional<Decision> votingReplica(Situation situation) {
            return situation.facts().voters().stream()
                    .filter(voter -> situation
                            .placeOf(voter)
                            .filter(place -> !situation.shape().mayPromote(place.name()))
                            .isPresent())
                    .findFirst()
                    .map(voter -> new Decision.Waiting(
                            "read-replica",
                            voter.label() + " is declared as a read replica and is a voting member",
                            "no automatic change repairs this: understudy cluster replace " + voter.label()
                                    + " --with NAME"));
        }

        static Optional<Decision> alarm(Situation situation) {
            return situation.facts().alarms().isEmpty()
                    ? Optional.empty()
                    : Optional.of(
                            new Decision.Waiting(
                                    "alarm",
                                    String.join(", ", situation.facts().alarms()),
                                    "etcd refuses writes and leases: an active supervisor still acts, no other can be elected"));
        }
    }
}
