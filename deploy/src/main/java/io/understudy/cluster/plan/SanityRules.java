package io.understudy.cluster.plan;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.etcd.EtcdVersion;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Members that fit together. What takes trouble out of a cluster, or only restarts it, needs none of this. */
final class SanityRules {

    /** Clocks are reported to the second; etcd warns from one second on. */
    private static final Duration MOST_APART = Duration.ofSeconds(5);

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

    static Optional<Refusal> clocks(Step step, ClusterFacts facts) {
        List<MemberFacts> withClock = facts.members().stream()
                .filter(member -> member.process().clockAhead().isPresent())
                .sorted(Comparator.comparing(SanityRules::clock))
                .toList();
        if (!brings(step) || withClock.size() < 2) {
            return Optional.empty();
        }
        MemberFacts slow = withClock.get(0);
        MemberFacts fast = withClock.get(withClock.size() - 1);
        Duration apart = clock(fast).minus(clock(slow));
        if (apart.compareTo(MOST_APART) <= 0) {
            return Optional.empty();
        }
        return Optional.of(new Refusal(
                "clocks-agree",
                "the clock of " + fast.label() + " is " + apart.toSeconds() + " s ahead of that of " + slow.label()
                        + ": leases would expire earlier or later after a leader change",
                "Synchronize the clocks (NTP) first"));
    }

    private static Duration clock(MemberFacts member) {
        return member.process().clockAhead().orElse(Duration.ZERO);
    }

    private static boolean brings(Step step) {
        return step instanceof Step.AddLearner || step instanceof Step.Promote;
    }
}
