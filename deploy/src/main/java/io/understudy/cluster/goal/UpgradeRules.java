package io.understudy.cluster.goal;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Refusal;
import io.understudy.etcd.EtcdVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** Why a cluster may not be brought to a version, by what its members report. Pure functions. */
final class UpgradeRules {

    /** From here on etcd does not read entries of 3.5 in a write-ahead log. */
    private static final int WITHOUT_ENTRIES_OF_3_5 = 7;

    private UpgradeRules() {}

    /** All reasons; none if the first member may be restarted as {@code target}. */
    static List<Refusal> check(ClusterFacts facts, EtcdVersion target) {
        List<Refusal> refusals = new ArrayList<>();
        facts.members().stream()
                .flatMap(member -> unsupported(member, target).stream())
                .findFirst()
                .ifPresent(refusals::add);
        if (facts.members().stream().anyMatch(member -> changesMinor(member, target))) {
            alarms(facts).ifPresent(refusals::add);
            storage(facts, target).ifPresent(refusals::add);
            downgrade(facts, target).ifPresent(refusals::add);
            raftSnapshotsUnknown(facts, target).ifPresent(refusals::add);
        }
        return refusals;
    }

    /** Whether the member must write a raft snapshot before it starts as {@code target}. */
    static boolean lacksRaftSnapshot(MemberFacts member, EtcdVersion target) {
        return entersWithoutOldEntries(member, target)
                && !member.process().hasRaftSnapshot().orElse(true);
    }

    private static boolean entersWithoutOldEntries(MemberFacts member, EtcdVersion target) {
        EtcdVersion running = running(member);
        return target.minor() >= WITHOUT_ENTRIES_OF_3_5
                && running.atLeast(3, 6, 0)
                && running.minor() < WITHOUT_ENTRIES_OF_3_5;
    }

    private static Optional<Refusal> raftSnapshotsUnknown(ClusterFacts facts, EtcdVersion target) {
        String members = facts.members().stream()
                .filter(member -> entersWithoutOldEntries(member, target)
                        && member.process().hasRaftSnapshot().isEmpty())
                .map(MemberFacts::label)
                .collect(joining(", "));
        return members.isEmpty()
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "raft-snapshot-known",
                        "etcd 3.7 does not start with entries of 3.5 in its write-ahead log, and the metrics of "
                                + members + " do not show whether it has written a raft snapshot since it started",
                        "Make /metrics of each member reachable at its client URL"));
    }

    /** Members that do not answer have no known version. */
    private static Optional<Refusal> unsupported(MemberFacts member, EtcdVersion target) {
        EtcdVersion running = running(member);
        return running.upgradeThrough(target)
                .map(first -> new Refusal(
                        "supported-upgrade",
                        member.label() + " runs " + running + ", and etcd does not support an upgrade from it to "
                                + target + " in one step",
                        "Upgrade every member to " + first + " or a later patch first"));
    }

    private static Optional<Refusal> alarms(ClusterFacts facts) {
        return facts.raised().isEmpty()
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "no-alarms",
                        "the cluster has alarms: "
                                + facts.raised().stream()
                                        .map(alarm -> alarm.kind() + " of " + alarm.member())
                                        .collect(joining(", ")),
                        "Repair it first (understudy cluster repair)"));
    }

    /** The version of the data follows that of the cluster within seconds of the last upgrade. */
    private static Optional<Refusal> storage(ClusterFacts facts, EtcdVersion target) {
        String expected = facts.members().stream()
                .map(UpgradeRules::running)
                .filter(version -> !version.equals(EtcdVersion.UNKNOWN))
                .min(Comparator.naturalOrder())
                .filter(oldest -> oldest.minor() < target.minor())
                .orElse(target)
                .ofCluster();
        List<String> versions = facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .map(answer -> answer.storage().version())
                .filter(version -> !version.isEmpty())
                .distinct()
                .sorted()
                .toList();
        return versions.isEmpty() || versions.equals(List.of(expected))
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "storage-versions-equal",
                        "the storage versions of the members are " + String.join(", ", versions) + "; required: "
                                + expected,
                        "Wait some seconds, until etcd has changed them"));
    }

    private static Optional<Refusal> downgrade(ClusterFacts facts, EtcdVersion target) {
        Optional<String> enabled = facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .map(answer -> answer.storage().downgradeTo())
                .filter(version -> !version.isEmpty())
                .findFirst();
        boolean lowers =
                facts.members().stream().anyMatch(member -> running(member).minor() > target.minor());
        boolean raises = facts.members().stream().anyMatch(member -> isOlderMinor(running(member), target));
        if (lowers && !enabled.equals(Optional.of(target.ofCluster()))) {
            return Optional.of(new Refusal(
                    "downgrade-enabled",
                    "a member runs a later minor version than " + target + ", and a downgrade to " + target.ofCluster()
                            + " is not enabled",
                    "Enable it first (etcdctl downgrade enable " + target.ofCluster() + ")"));
        }
        return raises && enabled.isPresent() && !enabled.get().equals(target.ofCluster())
                ? Optional.of(new Refusal(
                        "no-downgrade",
                        "a downgrade to " + enabled.get() + " is enabled",
                        "Complete it, or cancel it (etcdctl downgrade cancel)"))
                : Optional.empty();
    }

    private static boolean changesMinor(MemberFacts member, EtcdVersion target) {
        EtcdVersion running = running(member);
        return !running.equals(EtcdVersion.UNKNOWN) && running.minor() != target.minor();
    }

    static boolean isOlderMinor(EtcdVersion running, EtcdVersion target) {
        return !running.equals(EtcdVersion.UNKNOWN)
                && running.major() == target.major()
                && running.minor() < target.minor();
    }

    private static EtcdVersion running(MemberFacts member) {
        return member.answer().map(MemberAnswer::version).orElse(EtcdVersion.UNKNOWN);
    }
}
