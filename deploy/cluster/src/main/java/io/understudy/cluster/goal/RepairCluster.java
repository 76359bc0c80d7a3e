package io.understudy.cluster.goal;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.goal.MemberGoals.Leadership;
import io.understudy.cluster.goal.MemberGoals.RemoveMember;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.Hashes;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.plan.Projection;
import io.understudy.cluster.plan.Step;
import io.understudy.etcd.Alarm;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * A cluster without stopped members and alarms. Members of this machine start again. A corrupt member is removed before
 * CORRUPT is disarmed. NOSPACE is disarmed after compaction and defragmentation, one member at a time, learners first
 * and the leader last.
 *
 * <p>A voting member is corrupt if a majority has another hash at the same revision, whichever the alarm names. A
 * learner is if the alarm names it and all voting members agree. An alarm that a move of a primary role raised stays.
 *
 * @param revision of the compaction; every revision before the first look
 * @param hashes of the voting members; empty if not compared
 * @param moves commands that raised an alarm of a member, in words
 * @param performed whether a step was taken in this run
 * @param stopped members of this machine with data and without a process
 * @param freeBytes left on the disk of a member, if it is on this machine
 * @param voters least number of voting members
 * @param places where missing ones may run, best first
 */
public record RepairCluster(
        Revision revision,
        Hashes<MemberId> hashes,
        Map<MemberId, String> moves,
        Predicate<Step> performed,
        Function<ClusterFacts, List<MemberSpec>> stopped,
        Function<MemberFacts, OptionalLong> freeBytes,
        int voters,
        List<MemberSpec> places)
        implements Goal {

    private static final String NOSPACE = "NOSPACE";
    private static final String CORRUPT = "CORRUPT";

    public RepairCluster {
        moves = Map.copyOf(moves);
        places = List.copyOf(places);
    }

    /** The others and the alarms do not depend on a member that does not start. */
    @Override
    public boolean passes(Step step) {
        return step instanceof Step.Start;
    }

    @Override
    public boolean undoes(Step step) {
        return new Scale(voters, places).undoes(step);
    }

    @Override
    public Plan plan(ClusterFacts facts) {
        List<Step> starts = stopped.apply(facts).stream()
                .<Step>map(Step.Start::new)
                .filter(start -> !performed.test(start))
                .toList();
        if (starts.isEmpty()) {
            return repair(facts);
        }
        Plan.Steps first = planned(facts, starts);
        if (facts.verdict() != ClusterFacts.Verdict.HELD) {
            // Alarms and members are not known for certain before.
            return first;
        }
        ClusterFacts then = facts;
        for (Step start : starts) {
            then = Projection.after(then, start);
        }
        return repair(then) instanceof Plan.Steps rest
                ? new Plan.Steps(Stream.concat(first.steps().stream(), rest.steps().stream())
                        .toList())
                : first;
    }

    private Plan repair(ClusterFacts facts) {
        Optional<Refusal> contradiction = Preflight.contradiction(facts);
        if (contradiction.isPresent()) {
            return new Plan.Refused(List.of(contradiction.get()));
        }
        if (facts.verdict() != ClusterFacts.Verdict.HELD) {
            return new Plan.Refused(Preflight.check(new Step.Compact(revision), facts));
        }
        List<Alarm> corrupt = alarms(facts, CORRUPT);
        List<String> kept = corrupt.stream()
                .flatMap(alarm -> Optional.ofNullable(moves.get(alarm.member())).stream())
                .toList();
        if (!kept.isEmpty()) {
            return refused(
                    "alarm-of-move",
                    "CORRUPT was raised by " + String.join(", ", kept) + " to reject client writes",
                    "Complete or undo that command (understudy mirror status)");
        }
        if (!corrupt.isEmpty()) {
            return corrupt(facts, corrupt);
        }
        if (!alarms(facts, NOSPACE).isEmpty()) {
            return full(facts);
        }
        if (!facts.alarms().isEmpty()) {
            return refused("alarm-known", "alarm without a known repair: " + facts.alarms(), "See etcd's log");
        }
        Plan growth = growth(facts);
        return growth instanceof Plan.Done
                ? new Plan.Done("no member of this machine is stopped, and no alarm is active")
                : growth;
    }

    /** Members are only added here, never removed. */
    private Plan growth(ClusterFacts facts) {
        return new Scale(Math.max(voters, facts.voters().size()), places).plan(facts);
    }

    private Plan corrupt(ClusterFacts facts, List<Alarm> alarms) {
        Optional<Hashes.Hash> agreed = hashes.agreed(facts.quorum().needed());
        if (agreed.isEmpty() && hashes.areComparable()) {
            return refused(
                    "hash-majority",
                    "no majority of the voting members has the same hash at one revision: " + hashesOf(facts),
                    facts.voters().stream().allMatch(voter -> hashes.found().containsKey(voter.id()))
                            ? "Restore a snapshot from before the corruption (understudy cluster restore)"
                            : "Repeat the command when all voting members respond");
        }
        if (agreed.isEmpty()) {
            return incomparable(facts);
        }
        Optional<MemberFacts> gone = apart(facts, agreed.get())
                .or(() -> hasGoneApart(facts, agreed.get()) ? Optional.empty() : learner(facts, agreed.get(), alarms));
        if (gone.isPresent()) {
            Plan removal = new RemoveMember(gone.get().id()).plan(facts);
            return removal instanceof Plan.Steps steps
                    ? whole(steps, facts, gone.get(), agreed.get(), alarms)
                    : removal;
        }
        List<Alarm> over = over(facts, agreed.get(), alarms);
        if (over.isEmpty()) {
            return hashes.areComparable() ? unconfirmed(facts) : incomparable(facts);
        }
        return planned(facts, disarming(facts, over));
    }

    /** Any but the leader first, which must hand over before. */
    private Optional<MemberFacts> apart(ClusterFacts facts, Hashes.Hash agreed) {
        return facts.voters().stream()
                .filter(voter -> hashes.differs(voter.id(), agreed))
                .min(Comparator.comparing((MemberFacts voter) -> Leadership.leads(facts, voter))
                        .thenComparing(MemberFacts::name));
    }

    /** Whether this run has removed a corrupt member. */
    private boolean hasGoneApart(ClusterFacts facts, Hashes.Hash agreed) {
        return hashes.found().keySet().stream()
                .anyMatch(id -> facts.member(id).isEmpty() && hashes.differs(id, agreed));
    }

    /** Learners refuse to report their hash; etcd's leader reads it. Where all voting members agree, it is right. */
    private Optional<MemberFacts> learner(ClusterFacts facts, Hashes.Hash agreed, List<Alarm> alarms) {
        return facts.learners().stream()
                .filter(learner -> allAgree(facts, agreed) && isOf(learner, alarms))
                .findFirst();
    }

    private boolean allAgree(ClusterFacts facts, Hashes.Hash agreed) {
        return facts.voters().stream()
                .allMatch(voter -> agreed.equals(hashes.found().get(voter.id())));
    }

    private static boolean isOf(MemberFacts member, List<Alarm> alarms) {
        return alarms.stream().anyMatch(alarm -> alarm.member().equals(member.id()));
    }

    /**
     * Returns the alarms that a removal explains, also one of an interrupted run. In etcd, the leader compares the
     * others with itself, so the alarm of a corrupt leader is of a healthy member; 3.5 never names one. A complete
     * cluster with equal hashes keeps an alarm of its member: the leader also names itself if its own hash has changed
     * between two reads.
     */
    private List<Alarm> over(ClusterFacts facts, Hashes.Hash agreed, List<Alarm> alarms) {
        boolean isRemoved = hasGoneApart(facts, agreed) && apart(facts, agreed).isEmpty();
        boolean isNone = facts.learners().isEmpty() && allAgree(facts, agreed);
        boolean isOneMissing = facts.voters().size() < voters;
        return alarms.stream()
                .filter(alarm -> (isRemoved && !isOpen(facts, agreed, alarm))
                        || (isNone && (isOneMissing || alarm.member().value() == 0))
                        || (alarm.member().value() != 0
                                && facts.member(alarm.member()).isEmpty()))
                .toList();
    }

    /** Whether the voter of the alarm may be corrupt, too. If it names none: a voter with another compaction. */
    private boolean isOpen(ClusterFacts facts, Hashes.Hash agreed, Alarm alarm) {
        return facts.voters().stream()
                .filter(voter -> !agreed.equals(hashes.found().get(voter.id())))
                .anyMatch(voter -> alarm.member().value() == 0
                        ? hashes.found().containsKey(voter.id())
                        : alarm.member().equals(voter.id()));
    }

    private Plan incomparable(ClusterFacts facts) {
        return refused(
                "hash-comparable",
                "the voting members have compacted to different revisions: " + hashesOf(facts),
                "Repeat the command when all have applied the last compaction; if the same one never does, replace it");
    }

    private Plan unconfirmed(ClusterFacts facts) {
        boolean mayBeLearner = !facts.learners().isEmpty();
        return refused(
                "corruption-confirmed",
                "the voting members that responded have the same hash, so none is known to be corrupt: "
                        + hashesOf(facts)
                        + (mayBeLearner ? "; learners refuse to report theirs" : ""),
                mayBeLearner
                        ? "See etcd's log, remove the learners (understudy cluster remove), and repeat the command"
                        : "See etcd's log, then disarm it (etcdctl alarm disarm)");
    }

    /** The removal, the end of the alarms that it explains, and a replacement. */
    private Plan whole(
            Plan.Steps removal, ClusterFacts facts, MemberFacts gone, Hashes.Hash agreed, List<Alarm> alarms) {
        ClusterFacts after = Projection.after(facts, new Step.Remove(gone.id(), gone.label()));
        List<Step> disarming = disarming(facts, over(after, agreed, alarms));
        Plan growth = growth(after);
        return growth instanceof Plan.Refused
                ? growth
                : new Plan.Steps(Stream.of(
                                removal.steps(),
                                planned(after, disarming).steps(),
                                growth instanceof Plan.Steps steps ? steps.steps() : List.<Plan.Planned>of())
                        .flatMap(List::stream)
                        .toList());
    }

    private String hashesOf(ClusterFacts facts) {
        return facts.voters().stream()
                .map(voter -> voter.label() + " " + hashes.text(voter.id()))
                .collect(joining(", "));
    }

    private Plan full(ClusterFacts facts) {
        List<Step> steps = new ArrayList<>();
        steps.add(new Step.Compact(revision));
        List<MemberFacts> members = facts.members().stream()
                .filter(MemberFacts::isHealthy)
                .sorted(Comparator.comparing(MemberFacts::isVoter)
                        .thenComparing(member -> Leadership.leads(facts, member))
                        .thenComparing(MemberFacts::name))
                .toList();
        for (MemberFacts member : members) {
            Step defragment = new Step.Defragment(member.id(), member.label());
            if (performed.test(defragment)) {
                continue;
            }
            long needed = member.answer().map(MemberAnswer::databaseBytesInUse).orElse(0L);
            OptionalLong free = freeBytes.apply(member);
            if (free.isPresent() && free.getAsLong() < needed) {
                return refused(
                        "disk-free",
                        "defragmenting " + member.label() + " needs " + needed + " bytes of disk, " + free.getAsLong()
                                + " are free",
                        "Free disk space on the machine of " + member.label());
            }
            Leadership.away(facts, member).ifPresent(steps::add);
            steps.add(defragment);
        }
        steps.addAll(disarming(facts, alarms(facts, NOSPACE)));
        List<Step> left = steps.stream().filter(step -> !performed.test(step)).toList();
        return left.stream()
                .map(step -> Preflight.check(step, facts))
                .filter(refusals -> !refusals.isEmpty())
                .findFirst()
                .<Plan>map(Plan.Refused::new)
                .orElseGet(() -> planned(facts, left));
    }

    private static List<Step> disarming(ClusterFacts facts, List<Alarm> alarms) {
        return alarms.stream()
                .<Step>map(alarm -> new Step.Disarm(alarm, facts.label(alarm)))
                .toList();
    }

    private static List<Alarm> alarms(ClusterFacts facts, String kind) {
        return facts.raised().stream()
                .filter(alarm -> alarm.kind().equals(kind))
                .toList();
    }

    private static Plan.Steps planned(ClusterFacts facts, List<Step> steps) {
        return new Plan.Steps(steps.stream()
                .map(step -> new Plan.Planned(
                        step, step.text(), facts.quorum(), facts.quorum(), step instanceof Step.Compact))
                .toList());
    }

    private static Plan refused(String rule, String why, String wayOut) {
        return new Plan.Refused(List.of(new Refusal(rule, why, wayOut)));
    }
}
