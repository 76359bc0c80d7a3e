package io.understudy.etcd;

import io.understudy.vocabulary.MemberId;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * The loss of a leader. Until followers detect it, they forward proposals to it, and clients wait for etcd's 7 s.
 *
 * @param since the first failure at its endpoints
 */
record LeaderLoss(MemberId leader, Instant since) {

    /** Twice etcd's default election timeout, and a probe. */
    static final Duration FOLLOWED = Duration.ofSeconds(3);

    /** The lost leader while the view still names it and followers may follow it. */
    Optional<Member> in(ClusterView view, Instant now) {
        return view.leader().filter(member -> member.id().equals(leader) && now.isBefore(since.plus(FOLLOWED)));
    }

    /** Whether another member leads, or this one has recovered. A loss that lasts longer is not a new one. */
    boolean isOver(ClusterView view, Instant now) {
        return view.leader()
                .filter(member -> !member.id().equals(leader)
                        || (member.health() == Health.HEALTHY && !now.isBefore(since.plus(FOLLOWED))))
                .isPresent();
    }
}
