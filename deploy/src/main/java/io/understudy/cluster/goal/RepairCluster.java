package io.understudy.cluster.goal;

import static java.util.stream.Collectors.joining;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.plan.Refusal;
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

/**
 * A cluster without stopped members and alarms: members of this machine start again; a corrupt member is removed before
 * CORRUPT is disarmed; NOSPACE is disarmed after compaction and defragmentation, one member at a time, learners first and
 * the leader last.
 *
 * <p>A member is corrupt only if a majority of the voting members has another hash at the same revision.
 *
 * @param revision of the compaction; every revision before the first look
 * @param hashes of the voting members at one revision, with the revision of their last compaction; empty if not compared
 * @param performed whether a compaction or defragmentation was made in this run
 * @param stopped members of this machine with data and without a process
 * @param freeBytes left on the disk of a member, if it is on this machine
 */
public record RepairCluster(
        Revision revision,
        Map<MemberId, List<Long>> hashes,
        Predicate<Step> performed,
        Function<ClusterFacts, List<MemberSpec>> stopped,
        Function<MemberFacts, OptionalLong> freeBytes)
        implements Goal {

    private static final String NOSPACE = "NOSPACE";
    private static final String CORRUPT = "CORRUPT";

    public RepairCluster {
        hashes = Map.copyOf(hashes);
    }

    @Override
    public Plan plan(ClusterFacts facts) {
        List<MemberSpec> startable = stopped.apply(facts);
        if (!startable.isEmpty()) {
            return planned(facts, startable.stream().<Step>map(Step.Start::new).toList());
        }
        Optional<Refusal> contradiction = Preflight.contradiction(facts);
        if (contradiction.isPresent()) {
            return new Plan.Refused(List.of(contradiction.get()));
        }
        if (!alarms(facts, CORRUPT).isEmpty()) {
            return corrupt(facts);
        }
        if (!alarms(facts, NOSPACE).isEmpty()) {
            return full(facts);
        }
        return facts.alarms().isEmpty()
                ? new Plan.Done("no member of this machine is stopped, and no alarm is active")
                : refused("alarm-known", "alarm without a known repair: " + facts.alarms(), "See etcd's log");
    }

    private Plan corrupt(ClusterFacts facts) {
        Optional<List<Long>> agreed = hashes.values().stream()
                .filter(hash -> hashes.values().stream().filter(hash::equals).count()
                        >= facts.quorum().needed())
                .findFirst();
        if (agreed.isEmpty()) {
            return refused(
                    "hash-majority",
                    "no majority of the voting members has the same hash at one revision: " + hashesOf(facts),
                    "Restore a snapshot from before the corruption (understudy cluster restore)");
        }
        List<MemberFacts> apart = facts.voters().stream()
                .filter(voter -> hashes.containsKey(voter.id()))
                .filter(voter -> !agreed.get().equals(hashes.get(voter.id())))
                .toList();
        List<Alarm> alarms = alarms(facts, CORRUPT);
        if (!apart.isEmpty()) {
            Plan removal = new RemoveMember(apart.get(0).id()).plan(facts);
            return removal instanceof Plan.Steps steps
                    ? then(steps, facts, of(apart.get(0).id(), alarms))
                    : removal;
        }
        // Only of members that this run found corrupt and removed: another alarm may be a switchover's, which closed
        // this cluster.
        List<Alarm> idle = alarms.stream()
                .filter(alarm -> hashes.containsKey(alarm.member())
                        && facts.member(alarm.member()).isEmpty())
                .toList();
        return idle.isEmpty()
                ? refused(
                        "corruption-confirmed",
                        "the voting members that responded have the same hash, so none is known to be corrupt: "
                                + hashesOf(facts)
                                + ". A switchover with --close corrupt-alarm raises this alarm to reject writes",
                        "If no switchover raised it (understudy mirror status), see etcd's log, then disarm it"
                                + " (etcdctl alarm disarm)")
                : planned(facts, disarming(facts, idle));
    }

    private static List<Alarm> of(MemberId member, List<Alarm> alarms) {
        return alarms.stream().filter(alarm -> alarm.member().equals(member)).toList();
    }

    private String hashesOf(ClusterFacts facts) {
        return facts.voters().stream()
                .map(voter -> voter.label() + " "
                        + Optional.ofNullable(hashes.get(voter.id()))
                                .map(hash -> Long.toHexString(hash.get(0)))
                                .orElse("unknown"))
                .collect(joining(", "));
    }

    private static Plan then(Plan.Steps removal, ClusterFacts facts, List<Alarm> alarms) {
        List<Plan.Planned> all = new ArrayList<>(removal.steps());
        all.addAll(((Plan.Steps) planned(facts, disarming(facts, alarms))).steps());
        return new Plan.Steps(all);
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
                .<Step>map(alarm -> new Step.Disarm(
                        alarm,
                        facts.member(alarm.member())
                                .map(MemberFacts::label)
                                .orElse(alarm.member().toString())))
                .toList();
    }

    private static List<Alarm> alarms(ClusterFacts facts, String kind) {
        return facts.raised().stream()
                .filter(alarm -> alarm.kind().equals(kind))
                .toList();
    }

    private static Plan planned(ClusterFacts facts, List<Step> steps) {
        return new Plan.Steps(steps.stream()
                .map(step -> new Plan.Planned(
                        step, step.text(), facts.quorum(), facts.quorum(), step instanceof Step.Compact))
                .toList());
    }

    private static Plan refused(String rule, String why, String wayOut) {
        return new Plan.Refused(List.of(new Refusal(rule, why, wayOut)));
    }
}
