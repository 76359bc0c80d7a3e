package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.etcd.EtcdVersion;
import java.util.List;
import java.util.Optional;

/** Members that fit together. What takes trouble out of a cluster, or only restarts it, needs none of this. */
final class SanityRules {

    private SanityRules() {}

    static Optional<Refusal> versions(Step step, ClusterFacts facts) {
        List<EtcdVersion> versions = facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .map(MemberAnswer::version)
                .filter(version -> !version.equals(EtcdVersion.UNKNOWN))
                .sorted()
                .toList();
        if (!brings(step) || versions.isEmpty()) {
            return Optional.empty();
        }
        EtcdVersion oldest = versions.get(0);
        EtcdVersion newest = versions.get(versions.size() - 1);
        if (oldest.major() == newest.major() && newest.minor() - oldest.minor() <= 1) {
            return Optional.empty();
        }
        return Optional.of(new Refusal(
                "versions-close",
                "etcd versions " + oldest + " and " + newest
                        + " are more than one minor release apart, which etcd does not support",
                "Upgrade the oldest first, one minor release at a time (understudy cluster roll)"));
    }

    private static boolean brings(Step step) {
        return step instanceof Step.AddLearner || step instanceof Step.Promote;
    }
}
