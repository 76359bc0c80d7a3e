package io.understudy.cluster.supervise.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterFacts.Divergence;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.observe.MemberFacts.MemberProcess;
import io.understudy.cluster.plan.Preflight;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.cluster.shape.Shape;
import io.understudy.cluster.shape.Shape.Limits;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.etcd.StorageStatus;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * A cluster as etcd would behave, one second at a time, with a supervisor that follows the rules. Machines are named after
 * their numbers; the first ones are voters.
 */
final class Simulated {

    private static final MemberId FOREIGN = new MemberId(Long.MAX_VALUE);
    private static final int BEHIND = 1_000;
    private static final int CATCH_UP = 400;
    private static final Duration TICK = Duration.ofSeconds(1);

    private Shape shape;
    private boolean isUnreadable;
    private final Limits limits;
    private final EtcdVersion version;
    private final List<String> machines = new ArrayList<>();
    private final Map<String, MemberId> processes = new HashMap<>();
    private final Set<String> broken = new HashSet<>();
    private final Set<String> crippled = new HashSet<>();
    private final Set<String> outdated = new HashSet<>();
    private final Set<String> hidden = new HashSet<>();
    private final Set<String> stalled = new HashSet<>();
    private final Map<MemberId, Member> members = new HashMap<>();
    private final List<Decision.Change> changes = new ArrayList<>();
    private Instant now = Instant.EPOCH;
    private History history = History.NONE;
    private final Set<String> unreached = new HashSet<>();
    private final Set<String> mute = new HashSet<>();
    private final Set<String> manual = new HashSet<>();
    private final Set<String> cut = new HashSet<>();
    private final Set<String> deaf = new HashSet<>();
    private final Map<String, Duration> fsyncs = new HashMap<>();
    private final Map<String, Duration> clocks = new HashMap<>();
    /** By how much the time of day at the supervisor is ahead. */
    private Duration ahead = Duration.ZERO;

    private final Map<MemberId, Instant> heardAt = new HashMap<>();
    private List<String> alarms = List.of();
    private Divergence divergence = Divergence.NONE;
    private boolean hushed;
    private boolean follows = true;
    private String prefix = "";
    private long nextId = 1;
    private long term = 7;
    private Situation situation;
    private Decision last = new Decision.Settled("nothing yet");
    private Optional<MemberId> leader = Optional.empty();

    private record Member(String machine, Role role, boolean started, long lag) {}

    Simulated(Shape shape, Limits limits, EtcdVersion version, int machineCount, int voters) {
        this.shape = shape;
        this.limits = limits;
        this.version = version;
        for (int number = 1; number <= machineCount; number++) {
            machines.add("m" + number);
            if (number <= voters) {
                MemberId id = new MemberId(nextId++);
                members.put(id, new Member("m" + number, Role.VOTER, true, 0));
                processes.put("m" + number, id);
            }
        }
    }

    /** The configuration of the supervisor changes. */
    void declare(Shape other) {
        shape = other;
    }

    /** The process ends; the machine could start it again. */
    void kill(int machine) {
        processes.remove(name(machine));
    }

    /** The process comes back by itself, if its member is one still. */
    void revive(int machine) {
        members.forEach((id, member) -> {
            if (member.machine().equals(name(machine)) && member.started()) {
                processes.put(name(machine), id);
            }
        });
        stalled.remove(name(machine));
        // A member removed meanwhile is rejected by the others, and ends.
        processes
                .entrySet()
                .removeIf(each -> each.getKey().equals(name(machine)) && !members.containsKey(each.getValue()));
    }

    /** Nothing starts there any more. */
    void breakDown(int machine) {
        kill(machine);
        broken.add(name(machine));
    }

    /** Its process ends, and the configured program would end in this cluster. */
    void outdate(int machine) {
        breakDown(machine);
        outdated.add(name(machine));
    }

    /** Nothing starts there without an operator, and there is none; whether a process runs is unknown. */
    void leaveToItsOperator(int machine) {
        breakDown(machine);
        manual.add(name(machine));
    }

    /** The machine's processes can't be queried any more. */
    void mute(int machine) {
        mute.add(name(machine));
    }

    /** A process that is not of this cluster runs there. */
    void occupy(int machine) {
        processes.put(name(machine), FOREIGN);
    }

    /** No data of members are readable. */
    void makeUnreadable() {
        isUnreadable = true;
    }

    /** Its members are called otherwise than the supervisor calls their machines. */
    void callOtherwise() {
        prefix = "other-";
    }

    /** The member there responds, but never becomes healthy. */
    void cripple(int machine) {
        crippled.add(name(machine));
    }

    /** An operator adds a learner on a machine outside the supervisor's configuration. */
    void addElsewhere(boolean started) {
        MemberId id = new MemberId(nextId++);
        members.put(id, new Member("elsewhere", Role.LEARNER, started, 0));
        if (started) {
            processes.put("elsewhere", id);
        }
    }

    void killElsewhere() {
        processes.remove("elsewhere");
    }

    /** Nothing answers at its peer URL, though it works by the connections it makes itself. */
    void hide(int machine) {
        hidden.add(name(machine));
    }

    /** No metrics page is readable, and the supervisor's own connection to that machine is cut. */
    void hideMetrics(int unreachable) {
        hushed = true;
        unreached.add(name(unreachable));
    }

    void showMetrics() {
        hushed = false;
    }

    /** Only the supervisor's connection is cut. */
    void cutFromSupervisor(int machine) {
        unreached.add(name(machine));
    }

    /** Its messages reach no other member; the supervisor reaches it. */
    void cut(int machine) {
        cut.add(name(machine));
    }

    /** The messages of other members do not reach it; its own reach them. */
    void deafen(int machine) {
        deaf.add(name(machine));
    }

    void slowDown(int machine, Duration fsync) {
        fsyncs.put(name(machine), fsync);
    }

    void setClock(int machine, Duration ahead) {
        clocks.put(name(machine), ahead);
    }

    /** The supervisor's time of day is set; its observations name that time. */
    void setOwnClock(Duration ahead) {
        this.ahead = ahead;
    }

    void contradict(int machine) {
        divergence = new Divergence(
                Set.of(new MemberId(machine + 1)), true, List.of(name(machine) + " lists 2 members: m1, m2"));
    }

    void alarm(String alarm) {
        alarms = List.of(alarm);
    }

    /** Whether decisions are carried out. */
    void follow(boolean follow) {
        follows = follow;
    }

    /** Of the last look. */
    MemberState state(int machine) {
        return finding(name(machine)).state();
    }

    Finding finding(String member) {
        return situation.finding(situation.facts().members().stream()
                .filter(each -> each.name().equals(member))
                .findFirst()
                .orElseThrow());
    }

    Optional<Decision.Change> withoutElection() {
        return Rules.startUnreplaced(situation).or(() -> Rules.moveFromStuckLeader(situation));
    }

    void stall(int machine) {
        stalled.add(name(machine));
    }

    void repairAll() {
        broken.clear();
        stalled.clear();
        for (int machine = 0; machine < machines.size(); machine++) {
            revive(machine);
        }
    }

    /** The supervisor dies; its successor has no history. */
    void forget() {
        history = History.NONE;
    }

    void run(int seconds) {
        for (int second = 0; second < seconds; second++) {
            tick();
        }
    }

    /** For so many seconds at most. */
    void runUntilSettled(int seconds) {
        int second = 0;
        while (second < seconds && !(tick() instanceof Decision.Settled)) {
            second++;
        }
    }

    Decision tick() {
        return tick(TICK);
    }

    /** An observation after so long without any. */
    Decision tick(Duration since) {
        now = now.plus(since);
        members.replaceAll((id, member) -> isUp(id)
                ? new Member(member.machine(), member.role(), true, Math.max(0, member.lag() - CATCH_UP))
                : member);
        members.keySet().stream()
                .filter(this::isUp)
                .filter(id -> !isOneOf(id, cut))
                .forEach(id -> heardAt.put(id, now));
        ClusterFacts facts = facts();
        List<Place> places = machines.stream()
                .map(name -> mute.contains(name)
                        ? Place.mute(spec(name))
                        : new Place(
                                spec(name),
                                manual.contains(name) ? Optional.empty() : Optional.of(processes.containsKey(name)),
                                true,
                                owner(name),
                                Optional.of("set its program")
                                        .filter(why -> outdated.contains(name) && !processes.containsKey(name))))
                .toList();
        history = history.after(facts, now, places, limits, TICK);
        situation = new Situation(facts, history, places, shape, limits);
        last = Rules.decide(situation);
        if (follows && last instanceof Decision.Change change) {
            requireSurvivable(facts, change.step());
            history = history.ordered(change.step(), now);
            changes.add(change);
            take(facts, change.step());
            requireReplaceable(change, places);
        }
        return last;
    }

    private Optional<DataOwner> owner(String machine) {
        return Optional.ofNullable(processes.get(machine))
                .filter(id -> !isUnreadable)
                .map(id -> new DataOwner(new ClusterId(id.equals(FOREIGN) ? 2 : 1), id));
    }

    /** No dead voter is removed in vain: the next step follows from the same look. */
    private void requireReplaceable(Decision.Change change, List<Place> places) {
        if (change.rule().equals("standby-failover")) {
            ClusterFacts after = facts();
            Decision next = Rules.decide(
                    new Situation(after, history.after(after, now, places, limits, TICK), places, shape, limits));
            assertThat(next).as("after %s", change).isNotInstanceOf(Decision.Waiting.class);
            if (next instanceof Decision.Change step) {
                assertThat(Preflight.check(step.step(), after)).as("%s", step).isEmpty();
            }
        }
    }

    /** Invariant DP22, checked independently of the rules. */
    private static void requireSurvivable(ClusterFacts facts, Step step) {
        if (!(step instanceof Step.Promote) && !(step instanceof Step.Remove)) {
            return;
        }
        MemberId subject = step instanceof Step.Promote promote ? promote.id() : ((Step.Remove) step).id();
        MemberFacts member = facts.member(subject).orElseThrow();
        long voters = facts.voters().size();
        long healthy = facts.voters().stream().filter(MemberFacts::isHealthy).count();
        if (step instanceof Step.Promote) {
            voters++;
            healthy += member.isHealthy() ? 1 : 0;
        } else if (member.isVoter()) {
            voters--;
            healthy -= member.isHealthy() ? 1 : 0;
        }
        assertThat(facts.isConfirmed()).isTrue();
        assertThat(healthy).as("healthy of %d voters after %s", voters, step).isGreaterThanOrEqualTo(voters / 2 + 1);
    }

    private void take(ClusterFacts facts, Step step) {
        Quorum quorum = facts.quorum();
        if (step instanceof Step.AddLearner add) {
            boolean refused = (facts.learners().size() >= 1 && !version.maxLearnersConfigurable())
                    || (quorum.voters() > 1 && quorum.healthy() < (quorum.voters() + 1) / 2 + 1);
            assertThat(refused)
                    .as("asked etcd for what it refuses: %s with %s", step, quorum)
                    .isFalse();
            members.put(new MemberId(nextId++), new Member(add.member().name(), Role.LEARNER, false, BEHIND));
        } else if (step instanceof Step.Join join) {
            launch(join.member().name(), join.id());
        } else if (step instanceof Step.Start start) {
            members.entrySet().stream()
                    .filter(each ->
                            each.getValue().machine().equals(start.member().name()))
                    .findFirst()
                    .ifPresent(each -> launch(start.member().name(), each.getKey()));
        } else if (step instanceof Step.Promote promote) {
            members.computeIfPresent(promote.id(), (id, learner) -> new Member(learner.machine(), Role.VOTER, true, 0));
        } else if (step instanceof Step.Remove remove) {
            Member removed = members.remove(remove.id());
            if (!stalled.contains(removed.machine())) {
                processes.remove(removed.machine(), remove.id());
            }
        } else if (step instanceof Step.MoveLeader move
                && !unreached.contains(members.get(move.from()).machine())) {
            leader = Optional.of(move.id());
            term++;
        } else if (step instanceof Step.Retire retire) {
            processes.remove(retire.member().name());
            stalled.remove(retire.member().name());
        }
    }

    private void launch(String machine, MemberId id) {
        if (!broken.contains(machine)) {
            processes.put(machine, id);
        }
    }

    private ClusterFacts facts() {
        long voters = count(Role.VOTER, false);
        boolean held = count(Role.VOTER, true) >= voters / 2 + 1;
        Optional<MemberId> before = leader;
        leader = !held
                ? Optional.empty()
                : leader.filter(this::isConnected).filter(members::containsKey).or(() -> members.keySet().stream()
                        .filter(id -> members.get(id).role() == Role.VOTER && isConnected(id))
                        .min(Comparator.comparingLong(MemberId::value)));
        if (leader.isPresent() && !leader.equals(before)) {
            term++;
        }
        List<MemberFacts> listed = members.keySet().stream()
                .map(id -> facts(id, held))
                .sorted(Comparator.comparing(MemberFacts::name))
                .toList();
        return new ClusterFacts(new ClusterId(1), listed, held, alarms, now.plus(ahead), divergence, Map.of());
    }

    private MemberFacts facts(MemberId id, boolean held) {
        Member member = members.get(id);
        Optional<MemberAnswer> answer = isUp(id) && !unreached.contains(member.machine())
                ? Optional.of(new MemberAnswer(
                        version,
                        leader,
                        term,
                        BEHIND * 2,
                        BEHIND * 2 - member.lag(),
                        new Revision(5),
                        1,
                        1,
                        held && isConnected(id) && !crippled.contains(member.machine()),
                        List.of(),
                        StorageStatus.NONE))
                : Optional.empty();
        Measurements measurements = answer.isEmpty() || hushed ? Measurements.NONE : measurements(id, member);
        return new MemberFacts(
                id,
                member.started() ? prefix + member.machine() : "",
                member.role(),
                spec(member.machine()).peerUrls(),
                List.of(),
                answer,
                measurements,
                new MemberProcess(
                        Optional.empty(),
                        Optional.of(clocks.getOrDefault(member.machine(), Duration.ZERO)
                                .minus(ahead)),
                        Optional.of(!hidden.contains(member.machine()))));
    }

    /** As with etcd, followers receive messages of the leader only. */
    private Measurements measurements(MemberId id, Member member) {
        Map<MemberId, Duration> silence = new HashMap<>();
        Map<MemberId, Duration> stalled = new HashMap<>();
        boolean leads = leader.equals(Optional.of(id));
        for (MemberId other : members.keySet()) {
            if (!other.equals(id)) {
                boolean sends = leads || leader.equals(Optional.of(other));
                Instant heard = sends ? heardAt.getOrDefault(other, Instant.EPOCH) : Instant.EPOCH;
                silence.put(other, Duration.between(heard, now));
            }
            if (leads && isOneOf(other, deaf)) {
                stalled.put(other, Duration.between(Instant.EPOCH, now));
            }
        }
        return new Measurements(silence, stalled, Optional.ofNullable(fsyncs.get(member.machine())), false);
    }

    private boolean isOneOf(MemberId id, Set<String> some) {
        return some.contains(members.get(id).machine());
    }

    private boolean isConnected(MemberId id) {
        return isUp(id) && !isOneOf(id, cut) && !isOneOf(id, deaf);
    }

    private long count(Role role, boolean up) {
        return members.entrySet().stream()
                .filter(each -> each.getValue().role() == role && (!up || isConnected(each.getKey())))
                .count();
    }

    private boolean isUp(MemberId id) {
        Member member = members.get(id);
        return member != null && id.equals(processes.get(member.machine())) && !stalled.contains(member.machine());
    }

    private String name(int machine) {
        return machines.get(machine % machines.size());
    }

    static MemberSpec spec(String name) {
        return new MemberSpec(name, List.of(URI.create("http://" + name + ":2380")), List.of());
    }

    int voters() {
        return (int) count(Role.VOTER, false);
    }

    int learners() {
        return (int) count(Role.LEARNER, false);
    }

    boolean isQuorumHeld() {
        return facts().quorum().isHeld();
    }

    /** How many voters may stop answering now. */
    int tolerance() {
        return facts().quorum().tolerance();
    }

    List<Decision.Change> changes() {
        return changes;
    }

    Set<String> voterNames() {
        Set<String> names = new HashSet<>();
        members.values().stream()
                .filter(member -> member.role() == Role.VOTER)
                .forEach(member -> names.add(member.machine()));
        return names;
    }

    Set<String> learnerNames() {
        Set<String> names = new HashSet<>();
        members.values().stream()
                .filter(member -> member.role() == Role.LEARNER)
                .forEach(member -> names.add(member.machine()));
        return names;
    }

    Decision last() {
        return last;
    }
}
