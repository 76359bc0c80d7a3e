package io.understudy.cluster.observe;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.etcd.Alarm;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * A cluster at one time.
 *
 * @param members ordered by name, those never started last
 * @param isConfirmed whether a quorum confirmed the member list (linearizable); otherwise it is one member's local copy
 * @param alarms as {@code NOSPACE of voter-1}
 * @param divergence how members contradict each other
 * @param failures why members are unhealthy
 */
public record ClusterFacts(
        ClusterId cluster,
        List<MemberFacts> members,
        boolean isConfirmed,
        List<String> alarms,
        Instant at,
        Divergence divergence,
        Map<MemberId, Failure> failures) {

    /** How sure it is that the cluster can decide. */
    public enum Verdict {
        HELD,
        LOST,
        /** Too few members answered in time; the others neither answered nor refused. */
        UNKNOWN
    }

    /** Without contradictions or failures. */
    public ClusterFacts(
            ClusterId cluster, List<MemberFacts> members, boolean isConfirmed, List<String> alarms, Instant at) {
        this(cluster, members, isConfirmed, alarms, at, Divergence.NONE, Map.of());
    }

    public ClusterFacts {
        members = List.copyOf(members);
        alarms = List.copyOf(alarms);
        failures = Map.copyOf(failures);
    }

    ClusterFacts at(Instant time) {
        return new ClusterFacts(cluster, members, isConfirmed, alarms, time, divergence, failures);
    }

    ClusterFacts withMembers(List<MemberFacts> others) {
        return new ClusterFacts(cluster, others, isConfirmed, alarms, at, divergence, failures);
    }

    public List<MemberFacts> voters() {
        return members.stream().filter(MemberFacts::isVoter).toList();
    }

    public List<MemberFacts> learners() {
        return members.stream().filter(MemberFacts::isLearner).toList();
    }

    public List<MemberFacts> healthyVoters() {
        return voters().stream().filter(MemberFacts::isHealthy).toList();
    }

    public Optional<MemberFacts> member(MemberId id) {
        return members.stream().filter(member -> member.id().equals(id)).findFirst();
    }

    /** By name; those never started have none. */
    public Optional<MemberFacts> named(String name) {
        return members.stream()
                .filter(member -> member.hasStarted() && member.name().equals(name))
                .findFirst();
    }

    /** The member with one of the peer URLs of that place. */
    public Optional<MemberFacts> at(MemberSpec place) {
        return members.stream()
                .filter(member -> member.peerUrls().stream().anyMatch(place.peerUrls()::contains))
                .findFirst();
    }

    /**
     * The voting member that takes itself for the leader, in the highest term of those and of members that reach a quorum: a
     * member that is cut off may campaign in higher terms.
     */
    public Optional<MemberFacts> leader() {
        return members.stream()
                .filter(member -> member.answer()
                        .filter(answer -> answer.reachesQuorum() || leads(member))
                        .isPresent())
                .max(Comparator.comparingLong((MemberFacts member) ->
                                member.answer().orElseThrow().raftTerm())
                        .thenComparing(ClusterFacts::leads))
                .filter(ClusterFacts::leads);
    }

    private static boolean leads(MemberFacts member) {
        return member.answer()
                .flatMap(MemberAnswer::leader)
                .filter(member.id()::equals)
                .isPresent();
    }

    /** Raft entries that a member has still to apply; empty without an answer of it and of the leader. */
    public Optional<Long> lag(MemberFacts member) {
        return leader().flatMap(MemberFacts::answer)
                .flatMap(leading -> member.answer().map(own -> Math.max(0, leading.raftIndex() - own.appliedIndex())));
    }

    /**
     * Returns the responding member with the highest committed index; a voter before a learner.
     *
     * <p>Without a quorum, members that do not respond may have a higher one.
     */
    public Optional<MemberFacts> mostRecent() {
        return members.stream()
                .filter(member -> member.answer().isPresent())
                .max(Comparator.comparing(
                                (MemberFacts member) -> member.answer().orElseThrow(), MemberAnswer.BY_COMMITTED)
                        .thenComparing(MemberFacts::isVoter));
    }

    /** The alarms that members report. */
    public List<Alarm> raised() {
        return Alarms.raised(members);
    }

    /** A member of an alarm, for people. */
    public String label(Alarm alarm) {
        return Alarms.label(members, alarm.member());
    }

    /** One linearizable answer proves a quorum; silence within a timeout proves nothing. */
    public Verdict verdict() {
        if (isConfirmed || !healthyVoters().isEmpty()) {
            return Verdict.HELD;
        }
        long mayVote = voters().stream().filter(this::isSilent).count();
        return mayVote >= quorum().needed() ? Verdict.UNKNOWN : Verdict.LOST;
    }

    /** Whether the member did not answer in time, and did not answer that it has no leader. */
    private boolean isSilent(MemberFacts member) {
        return Optional.ofNullable(failures.get(member.id()))
                        .filter(Failure::isTimeout)
                        .isPresent()
                && member.answer().map(answer -> answer.leader().isPresent()).orElse(true);
    }

    /** Why voting members are not healthy, such as {@code m1: no response within 5 s}. */
    public String silence() {
        return voters().stream()
                .flatMap(voter -> Optional.ofNullable(failures.get(voter.id())).stream()
                        .map(failure -> voter.label() + ": " + failure.text()))
                .collect(Collectors.joining("; "));
    }

    /** Voters, and those of them that are healthy now. */
    public Quorum quorum() {
        return new Quorum(voters().size(), healthyVoters().size());
    }
}
