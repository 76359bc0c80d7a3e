package io.understudy.cluster.observe;

import io.understudy.etcd.EtcdVersion;
import java.util.Optional;

/** Whether members confirm member lists: before 3.5, etcd serves them from memory, unconfirmed. */
public final class Confirming {

    /** Remedy where it is not possible. */
    public static final String WAY_OUT =
            "Members before etcd 3.5 cannot confirm it: upgrade them to 3.5 first (etcd upgrade guide)";

    private Confirming() {}

    /** Whether a responding voter can confirm. */
    public static boolean isPossible(ClusterFacts facts) {
        return facts.members().stream()
                .filter(MemberFacts::isVoter)
                .map(member -> member.answer().map(MemberAnswer::version))
                .flatMap(Optional::stream)
                .filter(version -> !version.equals(EtcdVersion.UNKNOWN))
                .map(EtcdVersion::confirmsMembers)
                .reduce(Boolean::logicalOr)
                .orElse(true);
    }
}
