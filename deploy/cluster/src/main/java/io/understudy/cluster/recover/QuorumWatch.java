package io.understudy.cluster.recover;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.local.process.Waiting;
import java.time.Duration;
import java.util.Optional;

/** Distinguishes a lost quorum from an unobserved one, as during an election or under load. */
record QuorumWatch(Survey survey, Duration lostFor) {

    /** Minimum observations without a quorum, since one may fail by chance. */
    private static final int LOOKS = 3;

    private static final Duration LOOK_AT_MOST = Duration.ofMinutes(1);

    /** The observations so far. For one thread. */
    private static final class Looks {

        private Optional<ClusterFacts> last = Optional.empty();
        private long lostSince = System.nanoTime();
        private int inARow;

        void add(Optional<ClusterFacts> facts) {
            last = facts;
            if (facts.flatMap(QuorumWatch::readsThroughQuorum).isPresent()) {
                lostSince = System.nanoTime();
                inARow = 0;
            } else {
                inARow++;
            }
        }

        boolean areEnough(Duration lostFor) {
            return last.filter(facts -> facts.quorum().isHeld()).isPresent()
                    || (inARow >= LOOKS && System.nanoTime() - lostSince >= lostFor.toNanos());
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
                    looks.add(survey.look());
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
