package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The retained results of earlier observations. They are lost with the process: a new one must observe a dead member
 * for the full time.
 *
 * <p>Its times are those of a clock that is never set.
 *
 * @param cluster the observed cluster; another one resets the history
 * @param last time of the last observation; empty before the first
 * @param voters as of the last confirmed observation
 * @param changes times of added or removed voters in the last hour, by any supervisor
 * @param left machines at the peer URLs of removed members, which need no process
 * @param setbacks by machine
 * @param orders last attempt of each step, by {@link Orders#key}
 * @param lostSince since when no linearizable read proves a quorum
 * @param leader the last leader that responded
 */
public record History(
        Optional<ClusterId> cluster,
        Optional<Instant> last,
        Set<MemberId> voters,
        Map<MemberId, Seen> members,
        Set<String> left,
        Map<String, Setback> setbacks,
        Map<String, Instant> orders,
        List<Instant> changes,
        Optional<Instant> lostSince,
        Optional<Tenure> leader) {

    public static final History NONE = new History(
            Optional.empty(),
            Optional.empty(),
            Set.of(),
            Map.of(),
            Set.of(),
            Map.of(),
            Map.of(),
            List.of(),
            Optional.empty(),
            Optional.empty());

    /** One term of one leader, from the first observation of it. */
    record Tenure(MemberId leader, long term, Instant since) {

        boolean isOf(MemberId member, long otherTerm) {
            return leader.equals(member) && term == otherTerm;
        }
    }

    private static final Duration WINDOW = Duration.ofHours(1);
    private static final int LATE = 3;

    public History {
        voters = Set.copyOf(voters);
        members = Map.copyOf(members);
        left = Set.copyOf(left);
        setbacks = Map.copyOf(setbacks);
        orders = Map.copyOf(orders);
        changes = List.copyOf(changes);
    }

    /**
     * Returns the history with one more observation.
     *
     * @param at start of the observation
     * @param pace maximum time of an observation and the following pause
     */
    public History after(ClusterFacts facts, Instant at, List<Place> places, Limits limits, Duration pace) {
        if (cluster.isPresent() && !cluster.get().equals(facts.cluster())) {
            return NONE.after(facts, at, places, limits, pace);
        }
        Duration gap = gap(limits, pace);
        Map<MemberId, Seen> next = new HashMap<>();
        for (MemberFacts member : facts.members()) {
            String place = placeOf(member, places);
            Seen before = members.getOrDefault(member.id(), Seen.first(place, at));
            boolean paused =
                    last.isPresent() && Duration.between(last.get(), at).compareTo(gap) > 0;
            next.put(
                    member.id(),
                    (paused ? before.afterPause() : before)
                            .after(
                                    new Sighting(facts, member, at, isDown(member, places)),
                                    place,
                                    servedAt(member, places),
                                    limits,
                                    gap));
        }
        boolean lost = facts.verdict() != ClusterFacts.Verdict.HELD;
        return new History(
                Optional.of(facts.cluster()),
                Optional.of(at),
                facts.isConfirmed() ? ids(facts) : voters,
                next,
                leftAfter(facts, places),
                setbacksAfter(facts, at, next, limits),
                orders,
                changesAfter(facts, at),
                lost ? Optional.of(lostSince.orElse(at)) : Optional.empty(),
                leaderAfter(facts, at));
    }

    private Optional<Tenure> leaderAfter(ClusterFacts facts, Instant at) {
        return facts.leader()
                .map(member -> {
                    long term = member.answer().orElseThrow().raftTerm();
                    return leader.filter(tenure -> tenure.isOf(member.id(), term))
                            .orElseGet(() -> new Tenure(member.id(), term, at));
                })
                .or(() -> leader);
    }

    /**
     * Returns the longest time between observations that still count as continuous. One late observation is allowed.
     */
    private static Duration gap(Limits limits, Duration pace) {
        Duration half = limits.dead().dividedBy(2);
        Duration wanted = pace.multipliedBy(LATE);
        Duration least = pace.multipliedBy(2);
        Duration allowed = wanted.compareTo(half) < 0 ? wanted : half;
        return allowed.compareTo(least) < 0 ? least : allowed;
    }

    /** Returns the history with an attempt at a step. */
    public History ordered(Step step, Instant at) {
        Map<String, Instant> next = new HashMap<>(orders);
        next.values().removeIf(earlier -> earlier.isBefore(at.minus(WINDOW)));
        next.put(Orders.key(step), at);
        return new History(cluster, last, voters, members, left, setbacks, next, changes, lostSince, leader);
    }

    private Set<String> leftAfter(ClusterFacts facts, List<Place> places) {
        Set<String> next = new HashSet<>(left);
        if (facts.isConfirmed()) {
            members.forEach((id, seen) -> {
                if (facts.member(id).isEmpty()) {
                    seen.servedAt().ifPresent(next::add);
                }
            });
        }
        places.stream()
                .filter(place -> facts.members().stream().anyMatch(place::holds))
                .forEach(place -> next.remove(place.name()));
        return next;
    }

    /** Counts a setback of a machine if its member left dead or never healthy, until one is ready for the hold-off. */
    private Map<String, Setback> setbacksAfter(ClusterFacts facts, Instant at, Map<MemberId, Seen> now, Limits limits) {
        Map<String, Setback> next = new HashMap<>(setbacks);
        now.values().stream()
                .filter(seen -> lasted(seen.readySince(), limits.holdOff(), at))
                .forEach(seen -> next.remove(seen.place()));
        members.forEach((id, seen) -> {
            boolean left = facts.isConfirmed() && !now.containsKey(id);
            if (left && !seen.place().isEmpty() && (seen.fault().isPresent() || !seen.wasHealthy())) {
                Setback before = next.getOrDefault(seen.place(), new Setback(0, at));
                next.put(seen.place(), before.again(at));
            }
        });
        return next;
    }

    private List<Instant> changesAfter(ClusterFacts facts, Instant at) {
        Instant oldest = at.minus(WINDOW);
        Stream<Instant> known = changes.stream().filter(change -> change.isAfter(oldest));
        if (!facts.isConfirmed() || voters.isEmpty()) {
            return known.toList();
        }
        Set<MemberId> changed = new HashSet<>(ids(facts));
        changed.removeAll(voters);
        Set<MemberId> gone = new HashSet<>(voters);
        gone.removeAll(ids(facts));
        changed.addAll(gone);
        return Stream.concat(known, changed.stream().map(id -> at)).toList();
    }

    static boolean lasted(Optional<Instant> since, Duration least, Instant now) {
        return since.isPresent() && !since.get().plus(least).isAfter(now);
    }

    private static Set<MemberId> ids(ClusterFacts facts) {
        return Set.copyOf(facts.voters().stream().map(MemberFacts::id).toList());
    }

    private static Optional<String> servedAt(MemberFacts member, List<Place> places) {
        return places.stream()
                .filter(place -> place.servesFor(member))
                .map(Place::name)
                .findFirst();
    }

    private static boolean isDown(MemberFacts member, List<Place> places) {
        return member.answer().isEmpty()
                && Place.of(member, places).filter(Place::isKnownToBeDown).isPresent();
    }

    private static String placeOf(MemberFacts member, List<Place> places) {
        return Place.of(member, places).map(Place::name).orElse(member.name());
    }

    /**
     * A member in one observation.
     *
     * @param at start of the observation, by a clock that is never set
     * @param isDown whether its process is known to have ended
     */
    record Sighting(ClusterFacts facts, MemberFacts member, Instant at, boolean isDown) {

        boolean isReady(Limits limits) {
            return member.isHealthy()
                    && facts.lag(member).filter(lag -> lag <= limits.maxLag()).isPresent();
        }
    }

    /**
     * A machine on which members died, or never started.
     *
     * @param times in a row
     * @param last when the last one did
     */
    record Setback(int times, Instant last) {

        private static final int MOST_DOUBLINGS = 6;

        Setback again(Instant at) {
            return new Setback(times + 1, at);
        }

        /** Returns when the machine may be used again. */
        Instant until(Limits limits) {
            return last.plus(limits.holdOff().multipliedBy(1L << Math.min(times - 1, MOST_DOUBLINGS)));
        }
    }

    /** Keys of steps in the history, so that a step is not repeated at once. */
    static final class Orders {

        /** Whatever the target. */
        static final String MOVE_LEADER = "move leader";

        private Orders() {}

        static String key(Step step) {
            if (step instanceof Step.AddLearner add) {
                return "add " + add.member().name();
            }
            if (step instanceof Step.Join join) {
                return "join " + join.member().name() + " " + join.id();
            }
            if (step instanceof Step.Start start) {
                return "start " + start.member().name();
            }
            if (step instanceof Step.Retire retire) {
                return "retire " + retire.member().name();
            }
            if (step instanceof Step.MoveLeader) {
                return MOVE_LEADER;
            }
            return step.toString();
        }
    }
}
