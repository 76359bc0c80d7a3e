package io.understudy.cluster.goal;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;

/** When a learner has caught up. */
public final class InSync {

    /**
     * Raft entries a learner may lack: what a busy cluster writes between two looks, and far below what etcd allows itself
     * (a tenth of all, {@code isLearnerReady} in its {@code server.go}).
     */
    public static final long ENTRIES = 1_000;

    private InSync() {}

    public static boolean isSo(ClusterFacts facts, MemberFacts member) {
        return member.isHealthy()
                && facts.lag(member).filter(lag -> lag <= ENTRIES).isPresent();
    }
}
