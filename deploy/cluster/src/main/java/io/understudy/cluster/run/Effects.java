package io.understudy.cluster.run;

import io.understudy.cluster.goal.InSync;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Step;
import io.understudy.vocabulary.MemberId;
import java.time.Instant;
import java.util.Optional;
import java.util.Set;

/** Determines by responses of members whether a step has taken effect. */
final class Effects {

    private Effects() {}

    /** @param before observation before the step */
    static boolean isSeen(Step step, ClusterFacts before, ClusterFacts now) {
        if (step instanceof Step.Start start && !before.quorum().isHeld()) {
            // Several may have to start before one of them is healthy.
            return now.named(start.member().name())
                    .filter(member -> member.answer().isPresent())
                    .isPresent();
        }
        if (!now.isConfirmed()) {
            return false;
        }
        if (step instanceof Step.AddLearner add) {
            return now.members().stream().anyMatch(member -> member.peerUrls().stream()
                    .anyMatch(add.member().peerUrls()::contains));
        }
        if (step instanceof Step.Remove remove) {
            return now.member(remove.member()).isEmpty() && now.leader().isPresent();
        }
        if (step instanceof Step.MoveLeader move) {
            return now.leader().map(MemberFacts::id).filter(move.to()::equals).isPresent();
        }
        if (step instanceof Step.Promote promote) {
            return member(now, promote.learner()).filter(MemberFacts::isVoter).isPresent();
        }
        if (step instanceof Step.UpdatePeerUrls update) {
            return member(now, update.member())
                    .filter(member -> Set.copyOf(member.peerUrls()).equals(Set.copyOf(update.peerUrls())))
                    .isPresent();
        }
        return isServing(step, before, now);
    }

    private static boolean isServing(Step step, ClusterFacts before, ClusterFacts now) {
        if (step instanceof Step.Disarm disarm) {
            return !now.raised().contains(disarm.alarm());
        }
        if (step instanceof Step.Downgrade downgrade) {
            return now.members().stream()
                    .flatMap(member -> member.answer().stream())
                    .map(MemberAnswer::storage)
                    .allMatch(storage -> storage.downgradeTo().equals(downgrade.version())
                            && (downgrade.version().isEmpty()
                                    || storage.version().equals(downgrade.version())));
        }
        if (step instanceof Step.Defragment defragment) {
            return member(now, defragment.member())
                    .filter(MemberFacts::isHealthy)
                    .isPresent();
        }
        if (step instanceof Step.Join join) {
            return member(now, join.id())
                    .filter(member -> member.hasStarted() && member.isHealthy() && isFound(member))
                    .isPresent();
        }
        if (step instanceof Step.Start start) {
            return now.named(start.member().name())
                    .filter(MemberFacts::isHealthy)
                    .isPresent();
        }
        if (step instanceof Step.CatchUp catchUp) {
            return member(now, catchUp.learner())
                    .filter(member -> InSync.isSo(now, member))
                    .isPresent();
        }
        if (step instanceof Step.Restart restart) {
            return member(now, restart.id())
                    .filter(MemberFacts::isHealthy)
                    .filter(member -> isRestarted(before, member))
                    .filter(member -> restart.version() == null || InSync.isSo(now, member))
                    .isPresent();
        }
        if (step instanceof Step.Migrate migrate) {
            return member(now, migrate.id())
                    .filter(member -> member.isHealthy()
                            && member.name().equals(migrate.to().name()))
                    .isPresent();
        }
        return true;
    }

    /** Whether other members reach its peer URL: its own connections work for a while without. */
    static boolean isFound(MemberFacts member) {
        return member.process().servesPeers().orElse(true);
    }

    private static Optional<MemberFacts> member(ClusterFacts facts, MemberId id) {
        return facts.member(id);
    }

    /**
     * Whether the process is a newer one, by its version or start time. A page of metrics without it may be a late one and
     * proves nothing. Without an earlier start time, it must be after the earlier observation.
     */
    static boolean isRestarted(ClusterFacts before, MemberFacts now) {
        Optional<MemberFacts> earlier = before.member(now.id());
        if (isOtherVersion(earlier.flatMap(MemberFacts::answer), now.answer())) {
            return true;
        }
        Instant then = earlier.flatMap(member -> member.process().startedAt())
                .orElseGet(() -> now.process().byItsClock(before.at()));
        return now.process().startedAt().filter(then::isBefore).isPresent();
    }

    private static boolean isOtherVersion(Optional<MemberAnswer> before, Optional<MemberAnswer> now) {
        return before.isPresent()
                && now.isPresent()
                && !before.get().version().equals(now.get().version());
    }
}
