package io.understudy.cli;

import io.understudy.cluster.goal.RepairCluster;
import io.understudy.cluster.membership.OutcomeUnknownException;
import io.understudy.cluster.membership.RefusedException;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Refusal;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code understudy cluster repair}: no member of this machine stopped, and no alarm. */
@Command(
        name = "repair",
        description = {
            "Start stopped members of this machine, and repair NOSPACE and CORRUPT alarms.",
            "NOSPACE: compacts, defragments one member at a time (learners first, the leader last), disarms. CORRUPT: removes"
                    + " a voting member that differs in its hash from a majority, then disarms; add the member again afterwards.",
            "Stop all supervisors first: under an alarm they cannot be paused."
        },
        exitCodeListHeading = "%nExit status:%n",
        exitCodeList = {"0:done, or no repair needed", "1:refused or failed", "2:usage error, or not confirmed"})
final class ClusterRepairCommand implements Callable<Integer> {

    @Mixin
    private ClusterFlags connection;

    @Option(
            names = "--take-over",
            description =
                    "Confirm that no supervisor and no other command changes the cluster, when an alarm keeps this"
                            + " command from pausing them.")
    private boolean isTakenOver;

    @Mixin
    private ChangeFlags change;

    @Spec
    private CommandSpec spec;

    @Override
    public Integer call() throws InterruptedException {
        return ClusterChange.repair(spec.commandLine(), connection, change, isTakenOver, this::goal);
    }

    private Goal goal(ClusterChange seen) {
        ClusterFacts facts = seen.facts();
        if (!facts.raised().isEmpty() && !isTakenOver && !change.isDryRun()) {
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
                isCompared ? hashes(seen, revision(facts, true)) : Map.of(),
                seen.work()::hasPerformed,
                seen.work()::stopped,
                seen.work()::freeBytes);
    }

    /** The last revision that all voting members have, or that any has. */
    private static Revision revision(ClusterFacts facts, boolean isCommon) {
        return facts.healthyVoters().stream()
                .flatMap(voter -> voter.answer().stream())
                .map(MemberAnswer::revision)
                .reduce((one, other) -> (one.value() < other.value()) == isCommon ? one : other)
                .orElse(new Revision(0));
    }

    private static Map<MemberId, List<Long>> hashes(ClusterChange seen, Revision revision) {
        Map<MemberId, List<Long>> hashes = new HashMap<>();
        for (MemberFacts voter : seen.facts().healthyVoters()) {
            try {
                hashes.put(voter.id(), seen.membership().hash(voter.id(), revision));
            } catch (RefusedException | OutcomeUnknownException e) {
                seen.notes("no hash of " + voter.label() + ": " + e.getMessage());
            }
        }
        return hashes;
    }
}
