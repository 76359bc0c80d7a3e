package io.understudy.cluster.goal;

import static java.util.stream.Collectors.joining;
import static java.util.stream.Collectors.toCollection;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.etcd.EtcdVersion;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Rules against a version of the cluster, by what its members report. Pure functions. */
final class UpgradeRules {

    /** First minor version that does not read entries of 3.5 in a write-ahead log. */
    private static final int WITHOUT_ENTRIES_OF_3_5 = 7;

    private UpgradeRules() {}

    /** Returns all refusals; none if the first member may be restarted as {@code target}. */
    static List<Refusal> check(ClusterFacts facts, EtcdVersion target) {
        List<Refusal> refusals = new ArrayList<>();
        facts.members().stream()
                .flatMap(member -> unsupported(member, target).stream())
                .findFirst()
                .ifPresent(refusals::add);
        if (facts.members().stream().anyMatch(member -> changesMinor(member, target))) {
            alarms(facts).ifPresent(refusals::add);
            downgrade(facts, target).or(() -> storage(facts, target)).ifPresent(refusals::add);
        }
        return refusals;
    }

    /** Returns refusals of a restart that must not change the version. Silent members have no known version. */
    static List<Refusal> oneVersion(ClusterFacts facts) {
        Set<EtcdVersion> running = facts.members().stream()
                .map(UpgradeRules::running)
                .filter(version -> !version.equals(EtcdVersion.UNKNOWN))
                .collect(toCollection(TreeSet::new));
        return running.size() < 2
                ? List.of()
                : List.of(new Refusal(
                        "version-unchanged",
                        "members run different versions: "
                                + running.stream().map(EtcdVersion::toString).collect(joining(", ")),
                        "Specify the target version, which is checked (--to-version)"));
    }

    /**
     * Whether the member may have entries of 3.5 above its last raft snapshot. One that 3.6 wrote proves nothing: it is
     * written while entries of 3.5 are read again.
     */
    static boolean needsRaftSnapshot(EtcdVersion running, EtcdVersion target) {
        return target.minor() >= WITHOUT_ENTRIES_OF_3_5
                && running.atLeast(3, 6, 0)
                && running.minor() < WITHOUT_ENTRIES_OF_3_5;
    }

    /**
     * Whether all members have to be restarted as 3.5 first. Until 3.5.19 only a member's own database had its name and
     * promotion. A restart publishes both to databases that record them now; 3.6 reads them there, and would start voting
     * members as learners, or end with "too many learner members" (etcd#19557).
     */
    static boolean publishesBefore(EtcdVersion running, EtcdVersion target) {
        return running.major() == 3 && running.minor() == 5 && target.minor() == 6;
    }

    /** Whether the cluster has the minor version of the target: a member of an earlier one could not start. */
    static boolean isReached(ClusterFacts facts, EtcdVersion target) {
        List<MemberAnswer> answers = facts.members().stream()
                .flatMap(member -> member.answer().stream())
                .toList();
        return answers.stream().noneMatch(answer -> answer.version().minor() > target.minor())
                && answers.stream()
                        .map(answer -> EtcdVersion.parse(answer.storage().version()))
                        .anyMatch(storage -> storage.atLeast(target.major(), target.minor(), 0));
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

    /**
     * Requires the storage version of the oldest member or the target; 3.5 reports none. It follows the cluster version
     * within seconds of the last upgrade or {@code downgrade enable}. Earlier releases do not start with later data.
     */
    private static Optional<Refusal> storage(ClusterFacts facts, EtcdVersion target) {
        EtcdVersion oldest = facts.members().stream()
                .map(UpgradeRules::running)
                .filter(version -> !version.equals(EtcdVersion.UNKNOWN))
                .min(Comparator.naturalOrder())
                .orElse(target);
        String required = (oldest.compareTo(target) < 0 ? oldest : target).ofCluster();
        String others = facts.members().stream()
                .filter(member -> member.answer()
                        .map(answer -> answer.storage().version())
                        .filter(version ->
                                !version.equals(required) && !(version.isEmpty() && !oldest.atLeast(3, 6, 0)))
                        .isPresent())
                .map(member -> member.label() + " has "
                        + member.answer().orElseThrow().storage().version())
                .collect(joining(", "));
        return others.isEmpty()
                ? Optional.empty()
                : Optional.of(new Refusal(
                        "storage-versions-equal",
                        "the data of all members must have the storage version " + required + "; " + others,
                        "Wait until they have it (understudy cluster status)"));
    }

    /** Requires an enabled downgrade to lower all members, and no other one for an upgrade. */
    private static Optional<Refusal> downgrade(ClusterFacts facts, EtcdVersion target) {
        Optional<String> enabled = facts.enabledDowngrade();
        boolean raises = facts.members().stream().anyMatch(member -> isOlderMinor(running(member), target));
        Optional<EtcdVersion> unsupported = lowers(facts, target)
                ? facts.members().stream()
                        .map(UpgradeRules::running)
                        .filter(version -> !version.equals(EtcdVersion.UNKNOWN))
                        .filter(version -> version.minor() > target.minor() + 1 || !version.atLeast(3, 6, 0))
                        .findFirst()
                : Optional.empty();
        if (unsupported.isPresent()) {
            return Optional.of(
                    new Refusal(
                            "supported-downgrade",
                            "a member runs " + unsupported.get()
                                    + ", and etcd is downgraded by one minor version, from 3.6 or" + " later",
                            "Downgrade to the minor version before it first, or restore a snapshot (understudy cluster restore)"));
        }
        if (lowers(facts, target) && !enabled.equals(Optional.of(target.ofCluster()))) {
            return Optional.of(new Refusal(
                    "downgrade-enabled",
                    "a member runs a later minor version than " + target + ", and a downgrade to " + target.ofCluster()
                            + " is not enabled",
                    "Use understudy cluster downgrade --to-version " + target));
        }
        return raises && enabled.isPresent() && !enabled.get().equals(target.ofCluster())
                ? Optional.of(otherDowngrade(enabled.get()))
                : Optional.empty();
    }

    static Refusal otherDowngrade(String enabled) {
        return new Refusal(
                "no-downgrade",
                "a downgrade to " + enabled + " is enabled",
                "Complete it, or cancel it (understudy cluster downgrade --cancel)");
    }

    /** Whether a downgrade has to be enabled first: all members run a later minor version, and none is. */
    static boolean needsDowngrade(ClusterFacts facts, EtcdVersion target) {
        return lowers(facts, target) && facts.enabledDowngrade().isEmpty();
    }

    private static boolean lowers(ClusterFacts facts, EtcdVersion target) {
        return facts.members().stream()
                .map(UpgradeRules::running)
                .filter(version -> !version.equals(EtcdVersion.UNKNOWN))
                .allMatch(version -> version.minor() > target.minor());
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

    static EtcdVersion running(MemberFacts member) {
        return member.answer().map(MemberAnswer::version).orElse(EtcdVersion.UNKNOWN);
    }
}
