package io.understudy.local.etcd;

import io.understudy.local.binary.ProgramVersion;
import java.util.List;

/**
 * Differences between versions of etcd.
 *
 * @param maxLearners learners that a cluster may have at once
 * @param learnerArguments arguments that raise it to that number
 */
record EtcdLimits(int maxLearners, List<String> learnerArguments) {

    private static final ProgramVersion MAX_LEARNERS_FLAG = new ProgramVersion(3, 6, 0);
    private static final int RAISED = 8;

    static EtcdLimits of(ProgramVersion version) {
        return version.isAtLeast(MAX_LEARNERS_FLAG)
                ? new EtcdLimits(RAISED, List.of("--max-learners=" + RAISED))
                : new EtcdLimits(1, List.of());
    }
}
