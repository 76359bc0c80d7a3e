package io.understudy.local.etcd;

import io.understudy.local.binary.EtcdVersion;
import java.util.List;

/**
 * What differs between versions of etcd, all in this one place.
 *
 * @param maxLearners learners that a cluster may have at once
 * @param learnerArguments arguments that raise it to that number
 */
record EtcdLimits(int maxLearners, List<String> learnerArguments) {

    private static final EtcdVersion MAX_LEARNERS_FLAG = new EtcdVersion(3, 6, 0);
    private static final int RAISED = 8;

    static EtcdLimits of(EtcdVersion version) {
        return version.isAtLeast(MAX_LEARNERS_FLAG)
                ? new EtcdLimits(RAISED, List.of("--max-learners=" + RAISED))
                : new EtcdLimits(1, List.of());
    }
}
