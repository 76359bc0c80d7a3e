package io.understudy.cluster.goal;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;

/** Determines whether a learner has caught up. */
public final class InSync {

    /**
     * Maximum lag of a learner in Raft entries. A busy cluster writes as many between two observations; etcd allows far
     * more (a tenth of all, {@code isLearnerReady} in its {@code server.go}).
     */
    public static final long ENTRIES = 1_000;

    private InSync() {}

    public static boolean isSo(ClusterFacts facts, MemberFacts member) {
        return member.isHealthy()
                && facts.lag(member).filter(lag -> lag <= ENTRIES).isPresent();
    }
}
