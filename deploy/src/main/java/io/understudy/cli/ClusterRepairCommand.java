package io.understudy.cli;

import io.understudy.cluster.goal.RepairCluster;
import io.understudy.cluster.membership.Hashes;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Refusal;
import io.understudy.etcd.Alarm;
import io.understudy.vocabulary.Revision;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** {@code understudy cluster repair}: no member of this machine stopped, and no alarm. */
@Command(
        name = "repair",
        description = {
            "Start stopped members of this machine, and repair NOSPACE and CORRUPT alarms.",
            "NOSPACE: compacts, defragments one member at a time (learners first, the leader last), disarms. The compaction"
                    + " ends all watches that are behind: their clients must read the keys again.",
            "CORRUPT: removes a voting member that differs in its hash from a majority, whichever the alarm names, disarms, and"
                    + " adds a member on a configured machine. Leaves an alarm alone that a switchover raised.",
            "Stop all supervisors first: under an alarm they cannot be paused."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no repair needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterRepairCommand implements Callable<Integer> {

    @Mixin
    private ClusterFlags connection;

    @Mixin
    private ChangeFlags change;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        return ClusterChange.run(spec.commandLine(), connection, change, this::goal);
    }

    private Goal goal(ClusterChange seen) {
        ClusterFacts facts = seen.facts();
        if (!facts.raised().isEmpty() && !seen.isTakenOver()) {
            return now -> new Plan.Refused(List.of(new Refusal(
                    "supervisors-stopped",
                    "supervisors and other commands cannot be paused under an alarm: " + facts.alarms(),
                    "Stop all supervisors of this cluster, then repeat with --take-over")));
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
                Math.max(seen.declaredVoters(), votersBefore(facts)),
                seen.places().stream()
                        .sorted(Comparator.comparing(
                                place -> facts.named(place.name()).isPresent()))
                        .toList());
    }

    /**
     * With corrupt members that an interrupted run removed; etcd raises an alarm of member 0 if none is found. Less one if
     * that is an even number.
     */
    private static int votersBefore(ClusterFacts facts) {
        int voters = facts.voters().size()
                + (int) facts.raised().stream()
                        .map(Alarm::member)
                        .filter(member ->
                                member.value() != 0 && facts.member(member).isEmpty())
                        .distinct()
                        .count();
        return Math.max(1, voters - 1 + voters % 2);
    }

    /** The last revision that all voting members have, or that any has. */
    private static Revision revision(ClusterFacts facts, boolean isCommon) {
        return facts.healthyVoters().stream()
                .flatMap(voter -> voter.answer().stream())
                .map(MemberAnswer::revision)
                .reduce((one, other) -> (one.value() < other.value()) == isCommon ? one : other)
                .orElse(new Revision(0));
    }
}
