package io.understudy.cluster.recover;

import io.understudy.cluster.machine.DataDirectory;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.run.LogExplanation;
import io.understudy.local.process.Waiting;
import io.understudy.vocabulary.MemberId;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Restores the quorum from the members that still have data. The survivors start normally. As many lost voting members
 * as the quorum lacks start without data under their old names. Raft elects the most complete survivor and commits its
 * whole log. It keeps no state and continues after an interruption.
 *
 * <p>Invariant DP9: after a lost quorum all data of the survivors is kept, uncommitted log entries too, however often
 * the recovery is interrupted.
 */
public final class Recovery {

    private static final Logger LOG = LoggerFactory.getLogger(Recovery.class);

    /** Maximum time until started members have a leader, if they suffice. */
    private static final Duration ELECTION = Duration.ofSeconds(15);

    /** Time without a quorum before it counts as lost, unlike in an election. */
    private static final Duration LOST_FOR = Duration.ofSeconds(30);

    private final Survey survey;
    private final QuorumWatch watch;
    private final Machines control;
    private final Operator operator;
    private final LearnerRestore learners;
    private final Duration patience;
    private final Duration election;

    /**
     * @param learners used if no voting member has data
     * @param patience maximum time until a member serves
     */
    public Recovery(Survey survey, Operator operator, LearnerRestore learners, Duration patience) {
        this(survey, operator, learners, patience, LOST_FOR, ELECTION);
    }

    /**
     * @param lostFor minimum time without a quorum
     * @param election maximum time until started members have a leader
     */
    Recovery(
            Survey survey,
            Operator operator,
            LearnerRestore learners,
            Duration patience,
            Duration lostFor,
            Duration election) {
        this.survey = survey;
        this.watch = new QuorumWatch(survey, lostFor);
        this.control = survey.control();
        this.operator = operator;
        this.learners = learners;
        this.patience = patience;
        this.election = election;
    }

    /**
     * Continues until there is a quorum. It abandons nothing before 30 seconds without one.
     *
     * @param from the members to recover from; empty for all voting members that have data
     * @return whether it is done; if not, the operator declined a step
     * @throws RecoveryException a step failed; or it is in doubt whether the quorum is lost, or which members have the
     *     most recent data
     */
    public boolean run(Set<String> from) {
        operator.print("checking for a quorum");
        Optional<ClusterFacts> facts = survey.look();
        if (facts.isPresent() && holdsQuorum(facts.get())) {
            return finish(facts.get(), from);
        }
        if (facts.isEmpty()) {
            var unused = survey.silence();
        }
        List<Remains> remains = survey.remainsWithLearners(facts);
        if (mayRestart(remains)) {
            print(facts, remains);
            if (!startThoseWithData(remains)) {
                return false;
            }
        }
        facts = watch.look();
        if (facts.isPresent() && holdsQuorum(facts.get())) {
            return finish(facts.get(), from);
        }
        List<Remains> left = survey.remainsWithLearners(facts);
        print(facts, left);
        Set<String> chosen = from.isEmpty() ? LearnerRestore.unfinished(left) : from;
        List<Remains> named =
                left.stream().filter(each -> chosen.contains(each.name())).toList();
        boolean isLearnerNamedAlone = named.stream().anyMatch(Remains::isLearner)
                && named.stream().noneMatch(each -> each.isVoter() && each.hasLog());
        if (isLearnerNamedAlone || !Survivors.exist(left)) {
            return learners.run(chosen, left);
        }
        return recover(Survivors.choose(chosen, left, facts), left, facts);
    }

    private static boolean holdsQuorum(ClusterFacts facts) {
        return facts.quorum().isHeld();
    }

    private void print(Optional<ClusterFacts> facts, List<Remains> remains) {
        operator.print(facts.map(seen -> "the quorum is lost: " + seen.quorum())
                .orElseGet(() -> "no voting member responds: " + survey.silence()));
        remains.forEach(each -> operator.print("  " + each.name() + " " + each.state()));
    }

    /** Whether startable and running members suffice for a quorum by their own logs. */
    private static boolean mayRestart(List<Remains> remains) {
        List<Remains> all = remains.stream()
                .filter(each -> each.isStartable() || (each.isVoter() && each.isThere()))
                .toList();
        long clusters = all.stream()
                .flatMap(each -> each.stored().stream())
                .map(data -> data.log().cluster())
                .distinct()
                .count();
        return all.stream().anyMatch(Remains::isStartable)
                && clusters <= 1
                && all.size()
                        >= all.stream()
                                .flatMap(each -> each.stored().stream())
                                .map(data -> data.voting().quorum())
                                .max(Integer::compare)
                                .orElse(Integer.MAX_VALUE);
    }

    private boolean startThoseWithData(List<Remains> remains) {
        List<MachineSettings> startable = remains.stream()
                .filter(Remains::isStartable)
                .map(Remains::machine)
                .toList();
        startable.forEach(survey::requireStartable);
        List<String> names = startable.stream().map(MachineSettings::name).toList();
        if (!operator.confirms("start " + String.join(", ", names)
                + " with their existing data; no data is lost if they form a quorum")) {
            return false;
        }
        startable.forEach(each -> control.start(each.member()));
        long end = System.nanoTime() + election.toNanos();
        boolean isBack = Waiting.until(
                election.plus(patience),
                () -> survey.look().filter(Recovery::holdsQuorum).isPresent()
                        ? Optional.of(true)
                        : System.nanoTime() > end ? Optional.of(false) : Optional.empty(),
                () -> new RecoveryException("interrupted while waiting for the quorum", null));
        operator.print(isBack ? "quorum restored without data loss" : "no quorum after " + election.toSeconds() + " s");
        return true;
    }

    private boolean recover(Survivors survivors, List<Remains> before, Optional<ClusterFacts> known) {
        Stream.of(survivors.all(), survivors.empty(), survivors.others(), survivors.ahead())
                .flatMap(List::stream)
                .map(Remains::machine)
                .forEach(survey::requireControl);
        Stream.of(survivors.all(), survivors.empty())
                .flatMap(List::stream)
                .map(Remains::machine)
                .forEach(survey::requireStartable);
        Stream.of(survivors.empty(), survivors.others(), survivors.ahead())
                .flatMap(List::stream)
                .filter(each -> each.hasData().orElse(false))
                .map(Remains::machine)
                .forEach(survey::requireReplaceable);
        Remains best = survivors.best();
        List<String> names = survivors.all().stream().map(Remains::name).toList();
        List<String> lost = Stream.of(survivors.empty(), survivors.others())
                .flatMap(List::stream)
                .map(Remains::name)
                .toList();
        operator.print("recovering from " + String.join(", ", names) + "; the most complete log is that of "
                + best.name() + ", which " + best.state());
        List<String> tail = best.tail();
        operator.print(
                best.stored().isEmpty()
                        ? "its log is not readable from this machine: entries after the commit index are unknown"
                        : tail.isEmpty()
                                ? "all its writes are marked as committed"
                                : "entries that it does not mark as committed, acknowledged or not; all are kept:");
        tail.forEach(operator::print);
        operator.print("acknowledged writes that only " + String.join(", ", lost) + " had are lost");
        survivors
                .ahead()
                .forEach(each ->
                        operator.print("learner " + each.name() + " has more, which is set aside: it " + each.state()));
        if (!survivors.unsecured().isEmpty()) {
            operator.print("removed from the member list once there is a quorum, as their data is not accessible here: "
                    + survivors.unsecured().values().stream().sorted().collect(Collectors.joining(", ")));
        }
        List<Remains> uncopied =
                survivors.all().stream().filter(each -> copy(each).isEmpty()).toList();
        Survey.requireRoom(
                "the copies of the survivors' data",
                uncopied.stream()
                        .filter(each -> each.hasData().orElse(false))
                        .map(each -> each.machine().dataDirectory())
                        .collect(Collectors.toMap(Function.identity(), each -> new DataDirectory(each).copyBytes())));
        if (!operator.confirms("continue without the data of " + String.join(", ", lost)
                + "; these members are lost for good, and fenced so that none of them starts again with old data")) {
            return false;
        }
        survey.requireUnchanged(before);
        LOG.atWarn()
                .addKeyValue("from", names)
                .addKeyValue("without", lost)
                .addKeyValue("log", best.last())
                .log("recovery started");
        survivors.all().forEach(this::backUp);
        survivors.ahead().forEach(this::retire);
        survivors.others().stream().filter(each -> !each.isGone()).forEach(this::retire);
        survivors.empty().forEach(each -> control.stop(each.machine().member()));
        survivors.all().forEach(each -> control.start(each.machine().member()));
        survivors.all().forEach(each -> requireDone(each.machine()));
        survivors.all().forEach(this::awaitPeerPort);
        List<MemberSpec> members = members(survivors, known);
        for (Remains each : survivors.empty()) {
            startEmpty(each.machine(), members);
        }
        ClusterFacts facts = await(
                seen -> holdsQuorum(seen)
                        && Stream.concat(survivors.all().stream(), survivors.empty().stream())
                                .allMatch(each -> isHealthy(seen, each.name())),
                "the members have no quorum");
        verify(best.stored().map(data -> data.database().revision()).orElse(0L), facts);
        return grow(remove(survivors.unsecured().keySet(), facts));
    }

    /** Removes members given up with old data that may return: their IDs cannot join again. */
    private ClusterFacts remove(Set<Long> ids, ClusterFacts facts) {
        ClusterFacts now = facts;
        for (MemberFacts member : facts.members()) {
            if (ids.contains(member.id().value())) {
                now = await(
                        seen -> {
                            boolean isListed = seen.member(member.id()).isPresent();
                            if (isListed) {
                                survey.remove(member.id(), seen);
                            }
                            return !isListed && holdsQuorum(seen);
                        },
                        member.label() + " is not removed from the member list");
                operator.print("removed " + member.label()
                        + " from the member list, so that its old data cannot return; understudy cluster add adds it"
                        + " without data");
            }
        }
        return now;
    }

    /** Waits until the survivor serves peers: a member without data reads the member list there. */
    private void awaitPeerPort(Remains survivor) {
        var unused = Waiting.until(
                patience,
                () -> Optional.of(survey.servesPeers(survivor.machine())).filter(serves -> serves),
                () -> new RecoveryException(
                        survivor.name() + " does not serve peers after " + patience.toSeconds() + " s; see its log",
                        null));
    }

    /** Returns the member list in the survivor's database, once committed entries are applied. */
    private List<MemberSpec> members(Survivors survivors, Optional<ClusterFacts> known) {
        MachineSettings best = survivors.best().machine();
        if (survivors.best().stored().isEmpty()) {
            return members(known.orElseThrow());
        }
        return Waiting.until(
                patience,
                () -> database(best)
                        .filter(database -> database.members().keySet().equals(survivors.members()))
                        .map(database -> database.members().values().stream()
                                .map(member -> spec(member.name(), member.peerUrls()))
                                .toList()),
                () -> new RecoveryException(
                        "the database of " + best.name() + " does not list the members that its log names", null));
    }

    /** Returns the database; empty if it is unreadable during a write. */
    private static Optional<Stored.Database> database(MachineSettings machine) {
        try {
            return Optional.of(Stored.Database.read(Stored.database(machine.dataDirectory())));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    private static boolean isHealthy(ClusterFacts facts, String name) {
        return facts.named(name).filter(MemberFacts::isHealthy).isPresent();
    }

    private void retire(Remains other) {
        control.retire(other.machine().member());
        printDone(
                other.machine(),
                "stopped " + other.name()
                        + (other.hasData().orElse(false)
                                ? " and set its data aside"
                                : "; its data is not accessible from this machine"));
        requireDone(other.machine());
    }

    private void backUp(Remains survivor) {
        MachineSettings machine = survivor.machine();
        control.stop(machine.member());
        Optional<Path> copy = copy(survivor);
        if (copy.isPresent()) {
            operator.print("a copy of the data of " + machine.name() + " exists: " + copy.get());
            return;
        }
        control.copyData(machine.member());
        printDone(
                machine, "copied the data of " + machine.name() + " to a directory beside " + machine.dataDirectory());
    }

    /** Returns an earlier copy of the member's data with the same end of the log. */
    private static Optional<Path> copy(Remains survivor) {
        return survivor.stored().flatMap(data -> new DataDirectory(
                        survivor.machine().dataDirectory())
                .earlier().stream().filter(each -> isCopy(each, data.log())).findFirst());
    }

    private static boolean isCopy(Path directory, WriteAheadLog log) {
        try {
            WriteAheadLog copied = Stored.read(directory).log();
            return copied.cluster() == log.cluster()
                    && copied.member() == log.member()
                    && copied.last().equals(log.last());
        } catch (IOException e) {
            LOG.atInfo()
                    .addKeyValue("path", directory)
                    .addKeyValue("cause", e.toString())
                    .log("earlier copy not readable");
            return false;
        }
    }

    private void startEmpty(MachineSettings machine, List<MemberSpec> members) {
        MemberSpec member = machine.member();
        control.stop(member);
        control.join(member, MemberSpec.initialCluster(members));
        // The quorum waits for it.
        control.letGo(member);
        printDone(machine, "started " + machine.name() + " without data, under its old name");
        requireDone(machine);
    }

    private List<MemberSpec> members(ClusterFacts facts) {
        return facts.members().stream()
                .map(member -> spec(member.name(), member.peerUrls()))
                .toList();
    }

    /** Returns the member. One that never started has the name of the machine at its peer URLs. */
    private MemberSpec spec(String name, List<URI> peerUrls) {
        String own = survey.machines().stream()
                .filter(machine -> name.isEmpty() && machine.member().peerUrls().equals(peerUrls))
                .map(MachineSettings::name)
                .findFirst()
                .orElse(name.isEmpty() ? "unstarted" : name);
        return new MemberSpec(own, peerUrls, List.of());
    }

    private boolean finish(ClusterFacts facts, Set<String> from) {
        if (!lost(facts).isEmpty()) {
            verify(0, facts);
        }
        return grow(removeGivenUp(facts, from));
    }

    /**
     * Removes what an interrupted run gave up and has not removed: it might return with its old data. A member that the
     * others hear, or that returns, stays.
     */
    private ClusterFacts removeGivenUp(ClusterFacts facts, Set<String> from) {
        Map<MemberId, String> givenUp = new HashMap<>(givenUp(facts, from));
        if (givenUp.isEmpty()) {
            return facts;
        }
        operator.print("checking for at least " + watch.lostFor().toSeconds()
                + " s whether any member receives messages from " + names(givenUp));
        givenUp.keySet().retainAll(watch.silent(givenUp.keySet()));
        if (givenUp.isEmpty()
                || !operator.confirms("remove " + names(givenUp)
                        + " from the member list, as --from gives them up, no member receives messages from them, and"
                        + " their old data may return")) {
            return survey.look().filter(Recovery::holdsQuorum).orElse(facts);
        }
        ClusterFacts now = facts;
        for (Map.Entry<MemberId, String> each : givenUp.entrySet()) {
            MemberId id = each.getKey();
            now = await(
                    seen -> holdsQuorum(seen)
                            && (seen.member(id).isEmpty()
                                    || QuorumWatch.isHeard(seen, id)
                                    || QuorumWatch.isSilent(seen, id)),
                    "the leader has no measurements of " + each.getValue() + ", which is not removed,");
            if (QuorumWatch.isHeard(now, id) || !givenUp(now, from).containsKey(id)) {
                operator.print(each.getValue() + " has returned and is not removed");
            } else {
                now = remove(Set.of(id.value()), now);
            }
        }
        return now;
    }

    private static String names(Map<MemberId, String> members) {
        return members.values().stream().sorted().collect(Collectors.joining(", "));
    }

    /** Returns listed members that are neither named nor respond, unless their data is lost for certain. */
    private Map<MemberId, String> givenUp(ClusterFacts facts, Set<String> from) {
        if (facts.voters().stream().map(MemberFacts::name).noneMatch(from::contains)) {
            // A learner was named: no member of the new cluster is given up.
            return Map.of();
        }
        Set<String> harmless = survey.remains(Optional.of(facts)).stream()
                .filter(each ->
                        each.isGone() || each.isEmpty() || each.isRunning().orElse(false))
                .map(Remains::name)
                .collect(Collectors.toSet());
        return facts.members().stream()
                .filter(member -> !from.contains(member.name())
                        && member.hasStarted()
                        && member.answer().isEmpty()
                        && !harmless.contains(member.name()))
                .collect(Collectors.toMap(MemberFacts::id, MemberFacts::label));
    }

    /**
     * Starts stopped members with their data. Then voting members without data join one by one, each when all others
     * are healthy and verified.
     */
    private boolean grow(ClusterFacts facts) {
        List<Remains> stopped = survey.remains(Optional.of(facts)).stream()
                .filter(each ->
                        each.isStopped() && facts.of(each.machine().member()).isPresent() && !each.isForeignTo(facts))
                .toList();
        List<String> names = stopped.stream().map(Remains::name).toList();
        if (!stopped.isEmpty()
                && operator.confirms("start " + String.join(", ", names) + " with their existing data")) {
            stopped.forEach(each -> control.start(each.machine().member()));
        }
        // Those that recover() has just started, or an interrupted run.
        survey.machines().forEach(each -> control.endFirstStart(each.member()));
        ClusterFacts now = facts;
        for (Optional<MachineSettings> next = lost(now).stream().findFirst();
                next.isPresent();
                next = lost(now).stream().findFirst()) {
            MachineSettings machine = next.get();
            if (!now.alarms().isEmpty()) {
                operator.print(machine.name() + " is not started, as an alarm is active: " + now.alarms()
                        + ". Repair it (understudy cluster repair), then run this command again");
                return true;
            }
            if (!operator.confirms("start " + machine.name() + " without data; its old data is lost for good")) {
                return true;
            }
            now = survey.look()
                    .filter(Recovery::holdsQuorum)
                    .orElseThrow(() -> new RecoveryException(
                            "the quorum was lost before the confirmation; " + machine.name()
                                    + " is not started, run the command again",
                            null));
            if (!lost(now).contains(machine)) {
                continue;
            }
            startEmpty(machine, members(now));
            now = await(seen -> isHealthy(seen, machine.name()), machine.name() + " does not serve");
            control.endFirstStart(machine.member());
            verify(0, now);
        }
        survey.remains(Optional.of(now)).stream()
                .filter(each -> each.answer().isEmpty() && !each.trouble().isEmpty())
                .forEach(each -> operator.print(each.name() + " is not started: it " + each.state()
                        + "; with its data lost: understudy cluster remove, then add"));
        for (Remains each : survey.remains(Optional.of(now))) {
            if (now.named(each.name()).isEmpty() && LearnerRestore.isUnfinished(each)) {
                verify(each.stored().map(data -> data.database().revision()).orElse(0L), now);
                learners.finish(each);
            }
        }
        ClusterFacts last = now;
        survey.remains(Optional.of(last)).stream()
                .filter(each -> each.isForeignTo(last))
                .forEach(each -> operator.print(
                        each.name() + " has data of another cluster or member and is left alone: it " + each.state()));
        operator.print("the cluster has a quorum, nothing more to recover: " + now.quorum());
        LOG.atInfo()
                .addKeyValue("cluster_id", now.cluster())
                .addKeyValue("voters", now.healthyVoters().size())
                .log("recovery completed");
        return true;
    }

    private List<MachineSettings> lost(ClusterFacts facts) {
        return survey.remains(Optional.of(facts)).stream()
                .filter(each -> each.isVoter() && (each.isGone() || each.isEmpty()))
                .map(Remains::machine)
                .toList();
    }

    private void verify(long least, ClusterFacts facts) {
        operator.print(survey.verify(
                survey.machines().stream()
                        .filter(machine -> facts.named(machine.name())
                                .filter(member -> member.isVoter() && member.isHealthy())
                                .isPresent())
                        .toList(),
                least,
                patience));
    }

    /** Prints a completed step; manual ones are printed before. */
    private void printDone(MachineSettings machine, String what) {
        if (machine.process() != ProcessKind.MANUAL) {
            operator.print(what);
        }
    }

    private void requireDone(MachineSettings machine) {
        if (machine.process() == ProcessKind.MANUAL
                && !operator.confirms("continue, with all manual steps done for " + machine.name())) {
            throw new RecoveryException(
                    "manual steps for " + machine.name() + " are not done; complete them and run the command again",
                    null);
        }
    }

    private ClusterFacts await(Predicate<ClusterFacts> wanted, String otherwise) {
        AtomicLong idleUntil = new AtomicLong(System.nanoTime() + EtcdMembership.IDLE.toNanos());
        return Waiting.until(
                patience,
                () -> {
                    Optional<ClusterFacts> seen = survey.look();
                    if (seen.filter(wanted).isEmpty() && System.nanoTime() > idleUntil.get()) {
                        seen.ifPresent(survey::appendEntry);
                        idleUntil.set(System.nanoTime() + EtcdMembership.IDLE.toNanos());
                    }
                    return seen.filter(wanted);
                },
                () -> new RecoveryException(
                        otherwise + " after " + patience.toSeconds() + " s; see the logs"
                                + LogExplanation.ofExited(control.places(), control),
                        null));
    }
}
