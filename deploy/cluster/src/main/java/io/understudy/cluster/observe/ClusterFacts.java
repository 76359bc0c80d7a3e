package io.understudy.cluster.observe;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.etcd.Alarm;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The observed state of a cluster.
 *
 * @param members ordered by name, those never started last
 * @param isConfirmed whether a quorum confirmed the member list (linearizable); otherwise it is one member's local copy
 * @param alarms as {@code NOSPACE of voter-1}
 * @param divergence contradictions between members
 * @param failures reasons why members are unhealthy
 */
public record ClusterFacts(
        ClusterId cluster,
        List<MemberFacts> members,
        boolean isConfirmed,
        List<String> alarms,
        Instant at,
        Divergence divergence,
        Map<MemberId, Failure> failures) {

    /** Whether the cluster has a quorum. */
    public enum Verdict {
        HELD,
        LOST,
        /** Too few members responded in time; the others rejected requests, or neither responded nor refused. */
        UNKNOWN
    }

    /** Creates facts without contradictions or failures. */
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

    /** Returns a started member by name. */
    public Optional<MemberFacts> named(String name) {
        return members.stream()
                .filter(member -> member.hasStarted() && member.name().equals(name))
                .findFirst();
    }

    /** Returns the member of that place, by name. One that has never started has none: it is found by its peer URLs. */
    public Optional<MemberFacts> of(MemberSpec place) {
        return named(place.name()).or(() -> at(place).filter(member -> !member.hasStarted()));
    }

    /** Returns the member with a peer URL of that place. */
    public Optional<MemberFacts> at(MemberSpec place) {
        return members.stream()
                .filter(member -> member.peerUrls().stream().anyMatch(place.peerUrls()::contains))
                .findFirst();
    }

    /**
     * Returns the voting leader of the highest term among leaders and members with quorum. An isolated member may
     * campaign in higher terms.
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

    /** Returns the leader, or else the one that members with quorum name, although it does not respond. */
    public Optional<MemberFacts> namedLeader() {
        return leader().or(() -> members.stream()
                .flatMap(member -> member.answer().stream())
                .filter(MemberAnswer::reachesQuorum)
                .max(Comparator.comparingLong(MemberAnswer::raftTerm))
                .flatMap(MemberAnswer::leader)
                .flatMap(this::member));
    }

    private static boolean leads(MemberFacts member) {
        return member.answer()
                .flatMap(MemberAnswer::leader)
                .filter(member.id()::equals)
                .isPresent();
    }

    /** Returns the cluster version of the enabled downgrade, such as {@code 3.6.0}. */
    public Optional<String> enabledDowngrade() {
        return members.stream()
                .flatMap(member -> member.answer().stream())
                .map(answer -> answer.storage().downgradeTo())
                .filter(version -> !version.isEmpty())
                .findFirst();
    }

    /**
     * Returns the number of Raft entries that a member has not applied. Empty without responses of it and the leader.
     */
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

    /**
     * Returns the cluster version, by the storage version of the leader, or else of any member. Earlier releases end in
     * this cluster. Unknown before 3.6.
     */
    public EtcdVersion clusterVersion() {
        return Stream.concat(leader().stream(), members.stream())
                .flatMap(member -> member.answer().stream())
                .map(answer -> EtcdVersion.parse(answer.storage().version()))
                .filter(version -> !version.equals(EtcdVersion.UNKNOWN))
                .findFirst()
                .orElse(EtcdVersion.UNKNOWN);
    }

    /** Returns the reported alarms. */
    public List<Alarm> raised() {
        return Alarms.raised(members);
    }

    /** Returns the name of an alarm's member. */
    public String label(Alarm alarm) {
        return Alarms.label(members, alarm.member());
    }

    /** Returns whether a quorum exists: one linearizable response proves it, a timeout proves nothing. */
    public Verdict verdict() {
        if (isConfirmed || !healthyVoters().isEmpty()) {
            return Verdict.HELD;
        }
        long mayVote = voters().stream().filter(this::isSilent).count();
        return mayVote >= quorum().needed() ? Verdict.UNKNOWN : Verdict.LOST;
    }

    /** Whether the member timed out or rejected requests, without reporting that it has no leader. */
    private boolean isSilent(MemberFacts member) {
        return Optional.ofNullable(failures.get(member.id()))
                        .filter(failure -> failure.isTimeout() || failure.isRejection())
                        .isPresent()
                && member.answer().map(answer -> answer.leader().isPresent()).orElse(true);
    }

    /** Returns why voting members are unhealthy, such as {@code m1: no response within 5 s}. */
    public String silence() {
        return failures(failure -> true);
    }

    /** Returns the rejections of voting members, which may have a quorum; empty without one. */
    public String rejections() {
        return failures(Failure::isRejection);
    }

    private String failures(Predicate<Failure> wanted) {
        return voters().stream()
                .flatMap(voter -> Optional.ofNullable(failures.get(voter.id())).stream()
                        .filter(wanted)
                        .map(failure -> voter.label() + ": " + failure.text()))
                .collect(Collectors.joining("; "));
    }

    /** Returns the numbers of voters and healthy voters. */
    public Quorum quorum() {
        return new Quorum(voters().size(), healthyVoters().size());
    }

    /** The cluster's alarms in words. */
    static final class Alarms {

        private Alarms() {}

        /** Returns alarms such as {@code NOSPACE of voter-1}, each once. */
        static List<String> of(List<MemberFacts> members) {
            return raised(members).stream()
                    .map(alarm -> alarm.kind() + " of " + label(members, alarm.member()))
                    .distinct()
                    .sorted()
                    .toList();
        }

        /** Alarms of member 0 are of one that etcd has not found. */
        static String label(List<MemberFacts> members, MemberId id) {
            return members.stream()
                    .filter(member -> member.id().equals(id))
                    .map(MemberFacts::label)
                    .findFirst()
                    .orElse(id.value() == 0 ? "an unknown member" : id.toString());
        }

        static List<Alarm> raised(List<MemberFacts> members) {
            return members.stream()
                    .flatMap(member -> member.answer().stream()
                            .flatMap(answer -> answer.errors().stream())
                            .flatMap(error -> Alarm.of(error, member.id()).stream()))
                    .distinct()
                    .sorted(Comparator.comparing(Alarm::kind)
                            .thenComparing(alarm -> alarm.member().value(), Long::compareUnsigned))
                    .toList();
        }
    }

    /**
     * A contradiction between members: different confirmed lists, or another cluster at a client URL. A member list is
     * replicated state, so that a difference never heals by itself.
     *
     * @param members members that contradict the majority; without a majority, all that responded
     * @param hasMajority whether the other members agree and are a majority of the voting members they list
     * @param texts descriptions of the differences
     */
    public record Divergence(Set<MemberId> members, boolean hasMajority, List<String> texts) {

        public static final Divergence NONE = new Divergence(Set.of(), true, List.of());

        public Divergence {
            members = Set.copyOf(members);
            texts = List.copyOf(texts);
        }

        public boolean isNone() {
            return texts.isEmpty();
        }
    }
}
