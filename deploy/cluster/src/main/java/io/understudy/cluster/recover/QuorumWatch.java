package io.understudy.cluster.recover;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.local.process.Waiting;
import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/** Distinguishes a lost quorum or member from an unobserved one, as during an election or under load. */
record QuorumWatch(Survey survey, Duration lostFor) {

    /** Minimum observations without a quorum, or of a member, since one may fail by chance. */
    private static final int LOOKS = 3;

    private static final Duration LOOK_AT_MOST = Duration.ofMinutes(1);

    /** The observations so far. For one thread. */
    private static final class Looks {

        private Optional<ClusterFacts> last = Optional.empty();
        private long lostSince = System.nanoTime();
        private int inARow;

        void add(Optional<ClusterFacts> facts, boolean isLost) {
            last = facts;
            if (isLost) {
                inARow++;
            } else {
                lostSince = System.nanoTime();
                inARow = 0;
            }
        }

        boolean isLost(Duration lostFor) {
            return inARow >= LOOKS && System.nanoTime() - lostSince >= lostFor.toNanos();
        }

        boolean areEnough(Duration lostFor) {
            return last.filter(facts -> facts.quorum().isHeld()).isPresent() || isLost(lostFor);
        }
    }

    /**
     * Observes until a quorum is found, or none for long enough.
     *
     * @return the last observation; empty if no member responds
     * @throws RecoveryException there is a quorum, although not all of it is observed
     */
    Optional<ClusterFacts> look() {
        Looks looks = new Looks();
        return Waiting.until(
                lostFor.plus(LOOK_AT_MOST),
                () -> {
                    Optional<ClusterFacts> facts = survey.look();
                    looks.add(
                            facts,
                            facts.flatMap(QuorumWatch::readsThroughQuorum).isEmpty());
                    if (!looks.areEnough(lostFor)) {
                        return Optional.empty();
                    }
                    looks.last.ifPresent(QuorumWatch::requireClear);
                    return Optional.of(looks.last);
                },
                () -> {
                    looks.last.ifPresent(QuorumWatch::requireClear);
                    return new RecoveryException(
                            "the quorum is unstable, or the check was interrupted; run the command again", null);
                });
    }

    /**
     * Observes until each of the members has responded, or is silent for long enough.
     *
     * @return the silent members
     * @throws RecoveryException other members may receive messages from one that does not respond
     */
    Set<MemberId> silent(Set<MemberId> members) {
        Set<MemberId> left = new HashSet<>(members);
        Looks looks = new Looks();
        return Waiting.until(
                lostFor.plus(LOOK_AT_MOST),
                () -> {
                    Optional<ClusterFacts> facts = survey.look();
                    left.removeIf(member -> facts.flatMap(seen -> seen.member(member))
                            .flatMap(MemberFacts::answer)
                            .isPresent());
                    looks.add(
                            facts,
                            facts.filter(seen -> left.stream().allMatch(member -> isSilent(seen, member)))
                                    .isPresent());
                    return left.isEmpty() || looks.isLost(lostFor) ? Optional.of(left) : Optional.empty();
                },
                () -> new RecoveryException(
                        looks.last
                                        .map(seen -> seen.members().stream()
                                                .filter(member -> left.contains(member.id()))
                                                .map(MemberFacts::label)
                                                .collect(joining(", ")))
                                        .orElse("members")
                                + " do not respond here, and other members may receive messages from them: not removed;"
                                + " run the command again, or without --from",
                        null));
    }

    /** Whether it responds, or a voting member has received Raft messages from it recently. */
    static boolean isHeard(ClusterFacts facts, MemberId member) {
        return facts.member(member).flatMap(MemberFacts::answer).isPresent()
                || facts.voters().stream()
                        .anyMatch(voter -> voter.measurements().hears(member));
    }

    /** Whether it neither responds nor is heard, which needs measurements of the leader. */
    static boolean isSilent(ClusterFacts facts, MemberId member) {
        return !isHeard(facts, member)
                && facts.leader()
                        .filter(leader -> leader.measurements().silence().containsKey(member))
                        .isPresent();
    }

    /** @throws RecoveryException the members may have a quorum, or none of them votes */
    static void requireClear(ClusterFacts facts) {
        if (facts.voters().isEmpty()) {
            throw new RecoveryException(
                    "cluster " + facts.cluster() + " has no voting member in its list; check the endpoints", null);
        }
        if (facts.quorum().isHeld()) {
            return;
        }
        String rejections = facts.rejections();
        if (!rejections.isEmpty()) {
            throw new RecoveryException(
                    "cannot determine whether the quorum is lost: " + rejections
                            + "; correct cluster.user or cluster.tls, or stop what responds there",
                    null);
        }
        readsThroughQuorum(facts).ifPresent(member -> {
            throw new RecoveryException(
                    member.label()
                            + " serves linearizable reads, so the cluster has a quorum; observed from here: "
                            + facts.quorum(),
                    null);
        });
        facts.voters().stream()
                .filter(voter -> voter.answer().isPresent()
                        && connected(facts, voter) >= facts.quorum().needed())
                .findFirst()
                .ifPresent(voter -> {
                    throw new RecoveryException(
                            voter.label() + " is connected to enough voting members for a quorum, "
                                    + connected(facts, voter) + " of "
                                    + facts.voters().size()
                                    + ": wait until they elect a leader, or stop the members to be removed",
                            null);
                });
    }

    private static Optional<MemberFacts> readsThroughQuorum(ClusterFacts facts) {
        return facts.members().stream()
                .filter(member ->
                        member.answer().filter(MemberAnswer::reachesQuorum).isPresent())
                .findFirst();
    }

    /** Returns the number of voting members that this one receives Raft messages from, itself included. */
    private static long connected(ClusterFacts facts, MemberFacts voter) {
        return facts.voters().stream()
                .filter(other ->
                        other.id().equals(voter.id()) || voter.measurements().hears(other.id()))
                .count();
    }
}
