package io.understudy.cluster.recover;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.machine.ProcessKind;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.local.process.Waiting;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes a cluster of one from the member with the most recent data, when the others are lost for good. What only those had
 * is lost; every data directory is kept. It remembers nothing: run again after an interruption it goes on from what it
 * finds.
 *
 * <p>Invariant DP9: after a lost quorum all data of the survivor is kept, however often the recovery is interrupted.
 */
public final class Recovery {

    private static final Logger log = LoggerFactory.getLogger(Recovery.class);

    /** Members that are started have a leader within seconds, if enough of them are. */
    private static final Duration ELECTION = Duration.ofSeconds(15);

    /** An election, or a minute of overload, looks like a lost quorum for a while. */
    private static final Duration LOST_FOR = Duration.ofSeconds(30);

    private final Survey survey;
    private final QuorumWatch watch;
    private final Machines control;
    private final Operator operator;
    private final Duration patience;
    private final Duration election;

    /** @param patience how long a member may take to serve */
    public Recovery(Survey survey, Operator operator, Duration patience) {
        this(survey, operator, patience, LOST_FOR, ELECTION);
    }

    /**
     * @param lostFor how long no quorum must have been seen
     * @param election how long members that were started may take to find a leader
     */
    Recovery(Survey survey, Operator operator, Duration patience, Duration lostFor, Duration election) {
        this.survey = survey;
        this.watch = new QuorumWatch(survey, lostFor);
        this.control = survey.control();
        this.operator = operator;
        this.patience = patience;
        this.election = election;
    }

    /**
     * Goes on until somebody holds a quorum. Does nothing before none was seen for half a minute.
     *
     * @param from the member to go on from; empty for the one with the most recent data
     * @return whether it is done; if not, the operator did not want to
     * @throws RecoveryException a step failed; or it is in doubt whether the quorum is lost, or who has the most recent data
     */
    public boolean run(Optional<String> from) {
        operator.tell("checking for a quorum");
        Optional<ClusterFacts> facts = watch.look();
        if (facts.isPresent() && holdsQuorum(facts.get())) {
            return finish(facts.get());
        }
        List<Remains> remains = told(facts, survey.remains(facts));
        List<String> elsewhere = survey.elsewhere(facts);
        if (remains.stream().anyMatch(Remains::isStartable)) {
            if (!startThoseWithData(remains)) {
                return false;
            }
            Optional<ClusterFacts> now = survey.look();
            if (now.isPresent() && holdsQuorum(now.get())) {
                operator.tell("quorum restored without data loss: " + now.get().quorum());
                return true;
            }
            now.ifPresent(QuorumWatch::requireClear);
            remains = told(now, since(remains, survey.remains(now)));
            elsewhere = now.isPresent() ? survey.elsewhere(now) : elsewhere;
        }
        elsewhere.forEach(name -> operator.tell("no machine is configured for " + name
                + ": make sure that it is stopped and never restarts with its data"));
        List<Remains> left = remains;
        List<String> outside = elsewhere;
        return goOnFrom(
                from.map(name -> Survivor.named(name, left)).orElseGet(() -> Survivor.mostRecent(left, outside)), left);
    }

    private static boolean holdsQuorum(ClusterFacts facts) {
        return facts.quorum().isHeld();
    }

    /** A cluster of one may have been left by an earlier run, with the flag that makes it forget others at each start. */
    private boolean finish(ClusterFacts facts) {
        survey.machines().forEach(machine -> control.rememberOthers(machine.member()));
        if (facts.voters().size() > 1 || survey.machines().size() == 1) {
            operator.tell("the cluster has a quorum, nothing to recover: " + facts.quorum());
            return true;
        }
        MemberFacts only = facts.voters().get(0);
        MachineSettings member = survey.machines().stream()
                .filter(each -> each.name().equals(only.name()))
                .findFirst()
                .orElseThrow(() -> new RecoveryException(
                        "no machine is configured for the only voting member " + only.label(), null));
        operator.tell(member.name() + " is the only voting member");
        if (!operator.confirms("restart " + member.name() + " without --force-new-cluster")) {
            return false;
        }
        restartPlainly(member);
        return true;
    }

    private static List<Remains> since(List<Remains> earlier, List<Remains> now) {
        return now.stream()
                .map(each -> earlier.stream()
                        .filter(before -> before.name().equals(each.name()))
                        .findFirst()
                        .map(each::since)
                        .orElse(each))
                .toList();
    }

    private List<Remains> told(Optional<ClusterFacts> facts, List<Remains> remains) {
        operator.tell(facts.map(seen -> "the quorum is lost: " + seen.quorum()).orElse("no member responds"));
        remains.forEach(each -> operator.tell("  " + each.name() + " " + each.told()));
        return remains;
    }

    private boolean startThoseWithData(List<Remains> remains) {
        List<MemberSpec> startable = remains.stream()
                .filter(Remains::isStartable)
                .map(each -> each.machine().member())
                .toList();
        List<String> names = startable.stream().map(MemberSpec::name).toList();
        if (!operator.confirms("start " + String.join(", ", names)
                + " with their existing data; no data is lost if they form a quorum")) {
            return false;
        }
        startable.forEach(control::start);
        long end = System.nanoTime() + election.toNanos();
        boolean isBack = Waiting.until(
                election.plus(patience),
                () -> survey.look().filter(Recovery::holdsQuorum).isPresent()
                        ? Optional.of(true)
                        : System.nanoTime() > end ? Optional.of(false) : Optional.empty(),
                () -> new RecoveryException("interrupted while waiting for the quorum", null));
        if (!isBack) {
            operator.tell("no quorum after " + election.toSeconds() + " s");
        }
        return true;
    }

    private boolean goOnFrom(Remains survivor, List<Remains> remains) {
        MachineSettings machine = survivor.machine();
        MemberSpec member = machine.member();
        operator.tell("selected " + member.name() + ", which " + survivor.told());
        if (!operator.confirms("recover from " + member.name()
                + " alone; acknowledged writes missing from its data are lost permanently")) {
            return false;
        }
        log.atWarn()
                .addKeyValue("from", member.name())
                .addKeyValue("state", survivor.told())
                .log("recovery started");
        control.stop(member);
        tellDone(machine, "stopped " + member.name());
        control.copyData(member);
        tellDone(machine, "copied its data to a directory beside " + machine.dataDirectory());
        List<MachineSettings> others = remains.stream()
                .map(Remains::machine)
                .filter(other -> !other.name().equals(member.name()))
                .toList();
        for (MachineSettings other : others) {
            // Two of them that come back with their old data would be a second cluster.
            control.retire(other.member());
            tellDone(other, "stopped " + other.name() + " and set its data aside");
        }
        others.forEach(this::requireDone);
        requireDone(machine);
        control.startAlone(member);
        requireDone(machine);
        ClusterFacts alone = await(seen -> isAlone(seen, member), member.name() + " does not serve as the only member");
        control.rememberOthers(member);
        verify(survivor, alone);
        operator.tell(member.name() + " serves as the only member: " + alone.quorum());
        restartPlainly(machine);
        return true;
    }

    private void verify(Remains before, ClusterFacts alone) {
        long revision = alone.voters()
                .get(0)
                .answer()
                .map(answer -> answer.revision().value())
                .orElse(0L);
        long least = before.known().orElse(0L);
        if (revision < least) {
            throw new RecoveryException(
                    before.machine().name() + " serves revision " + revision + " but had revision " + least
                            + " before: its data is incomplete. Use the copy beside "
                            + before.machine().dataDirectory(),
                    null);
        }
        operator.tell("revision: " + revision);
    }

    /** With the flag still on, each start would make it forget those that have joined since. */
    private void restartPlainly(MachineSettings machine) {
        MemberSpec member = machine.member();
        control.stop(member);
        control.start(member);
        requireDone(machine);
        ClusterFacts alone = await(seen -> isAlone(seen, member), member.name() + " does not serve after its restart");
        operator.tell(member.name() + " serves without --force-new-cluster: " + alone.quorum());
        log.atInfo()
                .addKeyValue("member", member.name())
                .addKeyValue("cluster_id", alone.cluster())
                .log("recovery completed");
    }

    /** Of what someone else does, the machines have told already that it is to be done. */
    private void tellDone(MachineSettings machine, String what) {
        if (machine.process() != ProcessKind.MANUAL) {
            operator.tell(what);
        }
    }

    /** What someone else does is done when he says so. */
    private void requireDone(MachineSettings machine) {
        if (machine.process() == ProcessKind.MANUAL
                && !operator.confirms("continue, with all manual steps done for " + machine.name())) {
            throw new RecoveryException(
                    "manual steps for " + machine.name() + " are not done; complete them and run the command again",
                    null);
        }
    }

    private static boolean isAlone(ClusterFacts facts, MemberSpec member) {
        return facts.members().size() == 1
                && facts.named(member.name()).filter(MemberFacts::isHealthy).isPresent();
    }

    private ClusterFacts await(Predicate<ClusterFacts> wanted, String otherwise) {
        return Waiting.until(
                patience,
                () -> survey.look().filter(wanted),
                () -> new RecoveryException(otherwise + " after " + patience.toSeconds() + " s; see its log", null));
    }
}
