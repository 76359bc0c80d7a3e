package io.understudy.cluster.supervise.rule;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Derives the state of a member from the observations so far. Pure functions.
 *
 * <p>Invariant DP25: no member counts as failed by inconclusive evidence or a pause of the supervisor, and no process
 * is stopped that was never seen as a member.
 */
final class Diagnosis {

    /** A usual disk takes under 10 ms ({@code etcd_disk_wal_fsync_duration_seconds} in etcd's tuning guide). */
    private static final Duration SLOW_FSYNC = Duration.ofMillis(250);

    private static final Duration MOST_APART = Duration.ofSeconds(5);
    private static final int FLAPS = 3;

    private Diagnosis() {}

    /** Whether measurements of the leader, or of its followers, cover that member: without them nothing is proven. */
    static boolean isConclusive(ClusterFacts facts, MemberFacts member) {
        return facts.isConfirmed()
                && (isFollowed(facts, member)
                        || facts.leader()
                                .filter(leader ->
                                        leader.measurements().silence().containsKey(member.id()))
                                .isPresent());
    }

    static Finding of(Situation situation, MemberFacts member) {
        if (!member.hasStarted()) {
            return new Finding(MemberState.JOINING, "it has not started since it was added");
        }
        return member.isHealthy() ? healthy(situation, member) : unhealthy(situation, member);
    }

    private static Finding unhealthy(Situation situation, MemberFacts member) {
        String own = own(situation, member);
        boolean lasts = situation
                .seen(member)
                .fault()
                .filter(fault -> fault.lasted(situation.limits().dead(), situation.now()))
                .isPresent();
        if (isFollowed(situation.facts(), member)) {
            return new Finding(
                    lasts ? MemberState.STUCK_LEADER : MemberState.SUSPECT,
                    own + "; it leads, and followers receive messages from it");
        }
        Optional<MemberFacts> leader = situation.facts().leader();
        if (leader.isEmpty() || leader.get().id().equals(member.id())) {
            return new Finding(MemberState.SUSPECT, own + "; no other leader answers");
        }
        if (!isConclusive(situation.facts(), member)) {
            return new Finding(
                    MemberState.SUSPECT,
                    own + "; no measurements of the leader, " + leader.get().label());
        }
        Duration silence =
                tenured(situation, leader.get().measurements().silence().getOrDefault(member.id(), Duration.ZERO));
        String heard = own + "; leader " + leader.get().label() + " received nothing from it for " + seconds(silence);
        if (leader.get().measurements().hears(member.id())) {
            return connected(situation, leader.get(), member, own, lasts);
        }
        if (!lasts || silence.compareTo(situation.limits().dead()) < 0) {
            return new Finding(MemberState.SUSPECT, heard);
        }
        MemberState state = isDown(situation, member)
                ? MemberState.DEAD
                : member.answer().isEmpty() ? MemberState.HUNG : MemberState.CUT;
        return new Finding(state, heard);
    }

    /** Whether a member takes it for the leader, and receives its messages. */
    private static boolean isFollowed(ClusterFacts facts, MemberFacts member) {
        return facts.members().stream()
                .filter(other -> other.answer()
                        .flatMap(MemberAnswer::leader)
                        .filter(member.id()::equals)
                        .isPresent())
                .anyMatch(other -> other.measurements().hears(member.id()));
    }

    /** Whether the leader, or as a leader a follower, received messages from it recently. */
    static boolean isHeard(ClusterFacts facts, MemberFacts member) {
        return isFollowed(facts, member)
                || facts.leader()
                        .filter(leader -> leader.measurements().hears(member.id()))
                        .isPresent();
    }

    private static Finding connected(
            Situation situation, MemberFacts leader, MemberFacts member, String own, boolean lasts) {
        Duration stalled = tenured(situation, leader.measurements().stalled().getOrDefault(member.id(), Duration.ZERO));
        if (lasts && stalled.compareTo(situation.limits().dead()) >= 0) {
            return new Finding(
                    MemberState.DEAF,
                    own + "; leader " + leader.label() + " sees no progress of its log for " + seconds(stalled));
        }
        return new Finding(
                member.answer().isEmpty() ? MemberState.UNREACHABLE : MemberState.STUCK,
                own + "; leader " + leader.label() + " receives messages from it");
    }

    private static Finding healthy(Situation situation, MemberFacts member) {
        Optional<Duration> fsync = member.measurements().fsync();
        if (fsync.filter(mean -> mean.compareTo(SLOW_FSYNC) >= 0).isPresent()) {
            return new Finding(
                    MemberState.SLOW_DISK, "a WAL fsync takes " + fsync.get().toMillis() + " ms on average");
        }
        int flaps = situation.seen(member).flaps().size();
        if (flaps >= FLAPS) {
            return new Finding(MemberState.FLAPPING, flaps + " short faults lately");
        }
        Duration off = clockOff(situation.facts(), member);
        return off.compareTo(MOST_APART) > 0
                ? new Finding(MemberState.CLOCK_OFF, "its clock differs by " + off.toSeconds() + " s")
                : new Finding(MemberState.HEALTHY, "");
    }

    /** Difference to the median, so that a supervisor's own clock does not count. */
    private static Duration clockOff(ClusterFacts facts, MemberFacts member) {
        List<Duration> clocks = facts.members().stream()
                .flatMap(each -> each.process().clockAhead().stream())
                .sorted()
                .toList();
        return member.process()
                .clockAhead()
                .filter(clock -> clocks.size() > 2)
                .map(clock -> clock.minus(clocks.get(clocks.size() / 2)).abs())
                .orElse(Duration.ZERO);
    }

    private static String own(Situation situation, MemberFacts member) {
        if (member.answer().isPresent()) {
            return "it answers, and serves no linearizable read";
        }
        return isDown(situation, member) ? "its process has ended" : "it does not answer";
    }

    /** Whether the end of the process is certain. */
    static boolean isDown(Situation situation, MemberFacts member) {
        return member.answer().isEmpty()
                && (member.measurements().refuses()
                        || situation
                                .placeOf(member)
                                .filter(Place::isKnownToBeDown)
                                .isPresent());
    }

    /** A leader receives messages of followers only since it leads. */
    private static Duration tenured(Situation situation, Duration measured) {
        Duration tenure = situation
                .history()
                .leader()
                .map(leader -> Duration.between(leader.since(), situation.now()))
                .orElse(Duration.ZERO);
        return measured.compareTo(tenure) < 0 ? measured : tenure;
    }

    private static String seconds(Duration duration) {
        return duration.toSeconds() + " s";
    }
}
