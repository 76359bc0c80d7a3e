package io.understudy.cli;

import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.goal.MemberGoals.DemoteMember;
import io.understudy.cluster.goal.MemberGoals.MigrateMember;
import io.understudy.cluster.goal.MemberGoals.PromoteMember;
import io.understudy.cluster.goal.MemberGoals.RemoveMember;
import io.understudy.cluster.goal.MemberGoals.ReplaceMember;
import io.understudy.cluster.goal.RepairCluster;
import io.understudy.cluster.goal.Roll;
import io.understudy.cluster.goal.Scale;
import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.Hashes;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.etcd.Alarm;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ParameterException;

/** Goals that depend on the observed state of the cluster. */
final class ClusterGoals {

    /** Limit that etcd recommends (its FAQ, maximum cluster size). */
    private static final int MOST_SENSIBLE = 7;

    private ClusterGoals() {}

    /** @param promote null for the default */
    static Goal add(ClusterChange seen, MemberSpec place, ClusterCommand.@Nullable Promote promote) {
        boolean mayVote = seen.mayVote(place.name());
        boolean isToVote = promote == null ? mayVote : promote == ClusterCommand.Promote.AUTO;
        return isToVote && !mayVote ? replica(place.name()) : new AddMember(place, isToVote);
    }

    static Goal promote(ClusterChange seen, String member) {
        MemberFacts found = seen.member(member);
        return found.isVoter() || seen.mayVote(found.name()) ? new PromoteMember(found.id()) : replica(found.name());
    }

    /** Refuses to make a declared read replica a voting member. */
    private static Goal replica(String name) {
        return refusal(
                "replica-stays-learner",
                name + " is in shape.readReplicas, so it stays a learner",
                "Name another member, or change shape.readReplicas or shape.readReplicasAreStandbys");
    }

    static Goal remove(ClusterChange seen, String member) {
        if (!seen.isRemoved(member)) {
            return new RemoveMember(seen.member(member).id());
        }
        // One that was added and never started has no name.
        Optional<MemberFacts> unnamed =
                seen.facts().at(seen.place(member, List.of(), List.of())).filter(each -> !each.hasStarted());
        return unnamed.isPresent()
                ? new RemoveMember(unnamed.get().id())
                : facts -> new Plan.Done(member + " is configured but not a member of the cluster");
    }

    static Goal demote(ClusterChange seen, String member) {
        if (seen.isRemoved(member)) {
            MemberSpec place = seen.place(member, List.of(), List.of());
            boolean isListed =
                    seen.facts().at(place).filter(each -> !each.isVoter()).isPresent();
            // An interrupted run removed it.
            return seen.lacksVoter() || isListed
                    ? new AddMember(place, false)
                    : refusal(
                            "demoted-is-member",
                            member + " is configured but not a member, and no voting member is missing",
                            "Check the name (understudy cluster status); add " + member + " as a learner with"
                                    + " understudy cluster add " + member + " --promote never");
        }
        MemberFacts found = seen.member(member);
        MemberSpec place = seen.place(found.label(), List.of(), List.of());
        return found.isVoter() ? new DemoteMember(found.id(), place) : new AddMember(place, false);
    }

    static Goal scale(ClusterChange seen, int voters, Map<String, URI> members) {
        if (voters % 2 == 0 || voters > MOST_SENSIBLE) {
            seen.notes("warning: " + new Quorum(voters, voters) + "; an odd number up to " + MOST_SENSIBLE
                    + " is recommended");
        }
        Optional<String> replica =
                members.keySet().stream().filter(name -> !seen.mayVote(name)).findFirst();
        if (replica.isPresent()) {
            return replica(replica.get());
        }
        return new Scale(
                voters,
                Stream.concat(
                                seen.votingPlaces().stream(),
                                members.entrySet().stream()
                                        .map(each -> seen.place(each.getKey(), List.of(each.getValue()), List.of())))
                        .toList());
    }

    static Goal replace(ClusterChange seen, ClusterCommand.Replacement replacement) {
        String member = replacement.member;
        String successor = replacement.successor;
        Optional<MemberFacts> old = seen.find(member).flatMap(seen.facts()::member);
        if (old.isEmpty() && !seen.isRemoved(member) && !(isId(member) && seen.lacksVoter())) {
            throw seen.unknown(member);
        }
        MemberSpec to = seen.place(successor, replacement.peer, replacement.client);
        if (old.filter(MemberFacts::isVoter).isPresent() && !seen.mayVote(successor)) {
            return replica(successor);
        }
        if (replacement.isMigrated) {
            // After the move the member has the name of its successor.
            MemberFacts found = old.orElseGet(() -> seen.member(successor));
            MemberSpec from = seen.place(old.map(MemberFacts::label).orElse(member), List.of(), List.of());
            if (old.isEmpty()
                    && !seen.work().mayMove(from, to, new DataOwner(seen.facts().cluster(), found.id()))) {
                return refusal(
                        "replaced-is-member",
                        member + " is not a member, and its data are not those of " + successor,
                        "Check the names (understudy cluster status)");
            }
            return new MigrateMember(found.id(), from, to);
        }
        if (member.equals(successor)) {
            throw seen.usageError("both members have the name " + member
                    + "; specify the ID of the member to replace, so that the command can be repeated");
        }
        Optional<MemberFacts> present = seen.facts().at(to);
        if (old.isEmpty()) {
            return resumed(seen, member, to, present);
        }
        boolean isToVote = old.get().isVoter();
        boolean isTaken = present.filter(each -> !each.id().equals(old.get().id()))
                .filter(each -> each.isVoter() || (!isToVote && each.hasStarted()))
                .isPresent();
        if (isTaken && !(isToVote ? seen.hasExtraVoter() : seen.hasExtraLearner())) {
            return refusal(
                    "replacement-is-new",
                    successor + " is a member already, so " + member + " would be removed and not replaced",
                    "Name a new member or a standby learner with --with; to have one member less, or to complete an"
                            + " interrupted replacement, remove " + member + " (understudy cluster remove " + member
                            + ")");
        }
        return new ReplaceMember(
                old.get().id(), to, isToVote, seen.isLost(old.get().id()));
    }

    /** Whether it is an ID as etcd prints it, without leading zeros. */
    private static boolean isId(String member) {
        return member.matches("[0-9a-f]{12,16}");
    }

    /** Resumes an interrupted replacement: it removed the member if a voter, or else a learner, is missing. */
    private static Goal resumed(ClusterChange seen, String member, MemberSpec to, Optional<MemberFacts> present) {
        if (present.filter(MemberFacts::isVoter).isPresent()) {
            return facts -> new Plan.Done(member + " is not a member, and " + to.name() + " is a voting member");
        }
        boolean isLearner = !seen.mayVote(member) || !seen.mayVote(to.name());
        if (seen.lacksVoter() && !isLearner) {
            return new AddMember(to, true);
        }
        return isLearner || present.isPresent() || seen.lacksLearner()
                ? new AddMember(to, false)
                : refusal(
                        "replaced-is-member",
                        member + " is not a member, and no voting member is missing",
                        "Check the names (understudy cluster status); add " + to.name()
                                + " with understudy cluster add, with --promote never for a learner");
    }

    private static Goal refusal(String rule, String why, String wayOut) {
        return facts -> new Plan.Refused(List.of(new Refusal(rule, why, wayOut)));
    }

    /**
     * Returns the goal of a restart or an upgrade of all members.
     *
     * @throws ParameterException versions do not match
     */
    static Function<ClusterChange, Goal> roll(ClusterCommand.Upgrade upgrade, Output output) {
        Instant since = upgrade.since();
        if (upgrade.to.version == null) {
            if (upgrade.to.program != null) {
                throw output.usageError("--program requires --to-version");
            }
            return seen -> {
                List<Refusal> exchanged = UpgradeChecks.exchanged(seen.machines(), seen.facts());
                if (!exchanged.isEmpty()) {
                    return facts -> new Plan.Refused(exchanged);
                }
                if (!seen.isDryRun()) {
                    seen.notes("to resume after an interruption: --started-before " + since);
                }
                return new Roll(since, null);
            };
        }
        EtcdVersion target = target(upgrade.to, output);
        Optional<Path> program = program(upgrade.to, target, output);
        return seen -> changed(
                seen,
                new Roll(
                        since,
                        target,
                        program,
                        false,
                        step -> upgrade.isRestarted || seen.work().hasPerformed(step)),
                upgrade);
    }

    /**
     * Returns the goal of a downgrade of all members.
     *
     * @throws ParameterException versions do not match
     */
    static Function<ClusterChange, Goal> downgrade(ClusterCommand.Version to, Output output) {
        EtcdVersion target = target(to, output);
        Optional<Path> program = program(to, target, output);
        ClusterCommand.Upgrade change = new ClusterCommand.Upgrade();
        change.to = to;
        return seen -> seen.facts().members().stream()
                .flatMap(member -> member.answer().stream())
                .map(MemberAnswer::version)
                .filter(version -> version.minor() < target.minor())
                .findFirst()
                .map(older -> refusal(
                        "supported-downgrade",
                        "a member runs " + older + ", which is earlier than " + target,
                        "Use understudy cluster roll --to-version " + target))
                .orElseGet(() -> changed(
                        seen, new Roll(Instant.now(), target, program, true, seen.work()::hasPerformed), change));
    }

    private static EtcdVersion target(ClusterCommand.Version to, Output output) {
        EtcdVersion target = EtcdVersion.parse(String.valueOf(to.version));
        if (target.equals(EtcdVersion.UNKNOWN)) {
            throw output.usageError("--to-version is " + to.version + "; allowed: X.Y.Z, such as 3.6.16");
        }
        return target;
    }

    /** Returns the given server of the target version; empty for the configured ones. */
    private static Optional<Path> program(ClusterCommand.Version to, EtcdVersion target, Output output) {
        Optional<Path> program = Optional.ofNullable(to.program)
                .map(each -> each.toAbsolutePath().resolve("etcd"));
        program.ifPresent(each -> {
            EtcdVersion found = UpgradeChecks.versionOf(each);
            if (found.compareTo(target) != 0) {
                throw output.usageError("--program: " + each + " has version " + found + ", --to-version is " + target);
            }
        });
        return program;
    }

    /** @param upgrade confirmations of the operator */
    private static Goal changed(ClusterChange seen, Roll roll, ClusterCommand.Upgrade upgrade) {
        EtcdVersion target = Objects.requireNonNull(roll.version());
        if (!(roll.plan(seen.facts()) instanceof Plan.Steps)) {
            return roll;
        }
        List<Refusal> refusals = new UpgradeChecks(
                        seen.machines(),
                        seen.work()::freeBytes,
                        target,
                        roll.program().isPresent(),
                        upgrade.isV2Checked,
                        upgrade.isRestarted)
                .check(seen.facts());
        if (!refusals.isEmpty()) {
            return facts -> new Plan.Refused(refusals);
        }
        if (UpgradeChecks.areNeeded(seen.facts(), target)) {
            seen.saveSnapshotFirst(upgrade.to.snapshots);
        }
        roll.program()
                .ifPresent(each -> seen.notes("afterwards, set machines.*.program to " + each
                        + ": supervisors and other commands start the configured program"));
        return roll;
    }

    static Goal repair(ClusterChange seen) {
        ClusterFacts facts = seen.facts();
        if (!facts.raised().isEmpty() && !seen.isTakenOver()) {
            return refusal(
                    "supervisors-stopped",
                    "supervisors and other commands cannot be paused under an alarm: " + facts.alarms(),
                    "Stop all supervisors of this cluster, then repeat with --take-over");
        }
        Revision last = revision(facts, false);
        boolean isCompared =
                facts.raised().stream().anyMatch(alarm -> alarm.kind().equals("CORRUPT"));
        return new RepairCluster(
                last,
                isCompared ? seen.hashes(revision(facts, true)) : new Hashes<>(Map.of()),
                isCompared ? seen.alarmsOfMoves() : Map.of(),
                seen.work()::hasPerformed,
                seen.work()::stopped,
                seen.work()::freeBytes,
                seen.declaredVoters(votersBefore(facts)),
                seen.votingPlaces().stream()
                        .sorted(Comparator.comparing(
                                place -> facts.named(place.name()).isPresent()))
                        .toList());
    }

    /**
     * Returns the number of voters before an interrupted run removed corrupt ones. The number is odd. If it finds no
     * corrupt member, etcd raises an alarm of member 0.
     */
    private static int votersBefore(ClusterFacts facts) {
        int voters = facts.voters().size()
                + (int) facts.raised().stream()
                        .filter(alarm -> alarm.kind().equals("CORRUPT"))
                        .map(Alarm::member)
                        .filter(member ->
                                member.value() != 0 && facts.member(member).isEmpty())
                        .distinct()
                        .count();
        return Math.max(1, voters - 1 + voters % 2);
    }

    /** Returns the last revision of all voting members, or of any. */
    private static Revision revision(ClusterFacts facts, boolean isCommon) {
        return facts.healthyVoters().stream()
                .flatMap(voter -> voter.answer().stream())
                .map(MemberAnswer::revision)
                .reduce((one, other) -> (one.value() < other.value()) == isCommon ? one : other)
                .orElse(new Revision(0));
    }
}
