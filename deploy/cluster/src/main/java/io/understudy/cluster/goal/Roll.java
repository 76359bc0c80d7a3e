package io.understudy.cluster.goal;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.goal.MemberGoals.Leadership;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Goal.NextStep.Next;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Planner;
import io.understudy.cluster.plan.Projection;
import io.understudy.cluster.plan.Step;
import io.understudy.etcd.EtcdVersion;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Restarts members one by one until each runs in a process that is new enough. Learners come first, the leader last and
 * after a move of leadership. The next one follows when the last one serves again. An unsupported next version is
 * refused before any restart. Without a version, all members must run the same one: a member that starts as another
 * ends the roll.
 *
 * <p>Invariant DP15: an upgrade restarts one member at a time, loses no acknowledged write, and stops at a machine that
 * still has the old version.
 *
 * @param startedSince earliest start of a process, by the clock of this machine
 * @param version required version, with which the start time is ignored; null for any
 * @param program server of that version; empty for the configured one
 * @param enablesDowngrade whether it may enable the downgrade that an earlier minor version needs
 * @param hasPerformed whether this run has taken a step
 */
public record Roll(
        Instant startedSince,
        @Nullable EtcdVersion version,
        Optional<Path> program,
        boolean enablesDowngrade,
        Predicate<Step> hasPerformed)
        implements Goal {

    public Roll(Instant startedSince, @Nullable EtcdVersion version) {
        this(startedSince, version, Optional.empty(), false, step -> false);
    }

    @Override
    public Plan plan(ClusterFacts facts) {
        Set<Step> planned = new HashSet<>();
        Plan plan = Planner.plan(facts, now -> {
            Next next = after(now, step -> hasPerformed.test(step) || planned.contains(step));
            if (next instanceof Next.Do action) {
                planned.add(action.step());
            }
            return next;
        });
        return version != null && enablesDowngrade && plan instanceof Plan.Done
                ? facts.enabledDowngrade()
                        .<Plan>map(enabled -> new Plan.Refused(List.of(stillEnabled(enabled, version))))
                        .orElse(plan)
                : plan;
    }

    private static Refusal stillEnabled(String enabled, EtcdVersion version) {
        return enabled.equals(version.ofCluster())
                // etcd checks that every 5 s (CancelDowngradeIfNeeded), and is not upgraded before.
                ? new Refusal(
                        "downgrade-ended",
                        "every member has version " + version + ", and the downgrade is still enabled",
                        "Wait until etcd has ended it (understudy cluster status), or cancel it (understudy cluster"
                                + " downgrade --cancel)")
                : UpgradeRules.otherDowngrade(enabled);
    }

    private Next after(ClusterFacts facts, Predicate<Step> isDone) {
        List<MemberFacts> members =
                facts.members().stream().filter(MemberFacts::hasStarted).toList();
        List<MemberFacts> unreported =
                members.stream().filter(member -> isUnreported(member)).toList();
        if (!unreported.isEmpty()) {
            return Next.impossible(
                    "start-time-known",
                    "the metrics of "
                            + unreported.stream().map(MemberFacts::label).collect(joining(", "))
                            + " lack the process start time",
                    "Repeat the command; if they always lack it, specify the target version (--to-version)");
        }
        Optional<Step> downgrade = version != null && enablesDowngrade && UpgradeRules.needsDowngrade(facts, version)
                ? Optional.of(new Step.Downgrade(version.ofCluster()))
                : Optional.empty();
        ClusterFacts changed =
                downgrade.map(step -> Projection.after(facts, step)).orElse(facts);
        List<Refusal> refusals =
                version == null ? UpgradeRules.oneVersion(facts) : UpgradeRules.check(changed, version);
        if (!refusals.isEmpty()) {
            return new Next.Impossible(refusals);
        }
        // etcd lowers the cluster version only while it reaches every member: others are started first.
        if (downgrade.isPresent() && members.stream().allMatch(MemberFacts::isHealthy)) {
            return new Next.Do(downgrade.get());
        }
        List<MemberFacts> old = members.stream()
                .filter(member -> !member.isHealthy() || isOld(member))
                .sorted(Comparator.comparing(MemberFacts::isHealthy)
                        .thenComparing(member -> !member.isLearner())
                        .thenComparing(member -> Leadership.leads(facts, member))
                        .thenComparing(MemberFacts::name))
                .toList();
        Optional<MemberFacts> next = old.stream().findFirst();
        if (next.isEmpty()) {
            return new Next.Reached(
                    version == null
                            ? "every member's process started after " + startedSince
                            : "every member has version " + version);
        }
        MemberFacts member = next.get().isHealthy()
                ? old.stream()
                        .filter(each -> isUnpublished(each, isDone))
                        .findFirst()
                        .orElse(next.get())
                : next.get();
        return new Next.Do(Leadership.away(facts, member)
                .orElseGet(() -> downgrade.isPresent()
                        ? new Step.Restart(spec(member), member.id())
                        : restart(facts, member, isDone)));
    }

    private boolean isUnpublished(MemberFacts member, Predicate<Step> isDone) {
        return version != null
                && UpgradeRules.publishesBefore(UpgradeRules.running(member), version)
                && !isDone.test(new Step.Restart(spec(member), member.id()));
    }

    private boolean isUnreported(MemberFacts member) {
        return version == null
                && member.isHealthy()
                && member.process().startedAt().isEmpty();
    }

    private boolean isOld(MemberFacts member) {
        return version == null
                ? member.process()
                        .startedAt()
                        .orElse(Instant.MIN)
                        .isBefore(member.process().byItsClock(startedSince))
                : UpgradeRules.running(member).compareTo(version) != 0;
    }

    /**
     * Starts a member of unknown version with its configured program, since its data are unknown. Once the cluster has
     * the minor version of the target, an earlier program would end: the member starts with the new one.
     */
    private Step restart(ClusterFacts facts, MemberFacts member, Predicate<Step> isDone) {
        MemberSpec spec = spec(member);
        EtcdVersion running = UpgradeRules.running(member);
        boolean mayBeEarlier =
                version != null && running.equals(EtcdVersion.UNKNOWN) && !UpgradeRules.isReached(facts, version);
        if (mayBeEarlier || isUnpublished(member, isDone)) {
            return new Step.Restart(spec, member.id());
        }
        Step snapshot = new Step.Restart(spec, member.id(), null, Optional.empty(), true);
        return version != null && UpgradeRules.needsRaftSnapshot(running, version) && !isDone.test(snapshot)
                ? snapshot
                : new Step.Restart(spec, member.id(), version, program, false);
    }

    private static MemberSpec spec(MemberFacts member) {
        return new MemberSpec(member.name(), member.peerUrls(), member.clientUrls());
    }
}
