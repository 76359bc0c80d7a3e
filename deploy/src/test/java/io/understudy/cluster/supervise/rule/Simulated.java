package io.understudy.cluster.supervise.rule;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberProcess;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.quorum.Quorum;
import io.understudy.cluster.shape.Limits;
import io.understudy.cluster.shape.Shape;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
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

    private static final int BEHIND = 1_000;
    private static final int CATCH_UP = 400;
    private static final Duration TICK = Duration.ofSeconds(1);

    private final Shape shape;
    private final Limits limits;
    private final EtcdVersion version;
    private final List<String> machines = new ArrayList<>();
    private final Map<String, MemberId> processes = new HashMap<>();
    private final Set<String> broken = new HashSet<>();
    private final Set<String> crippled = new HashSet<>();
    private final Set<String> hidden = new HashSet<>();
    private final Set<String> stalled = new HashSet<>();
    private final Map<MemberId, Member> members = new HashMap<>();
    private final List<Decision.Change> changes = new ArrayList<>();
    private Instant now = Instant.EPOCH;
    private History history = History.NONE;
    private final Set<String> unreached = new HashSet<>();
    private final Set<String> mute = new HashSet<>();
    private final Set<String> manual = new HashSet<>();
    private boolean hushed;
    private String prefix = "";
    private long nextId = 1;
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
        // Who was removed meanwhile is told so by the others, and ends.
        processes
                .entrySet()
                .removeIf(each -> each.getKey().equals(name(machine)) && !members.containsKey(each.getValue()));
    }

    /** Nothing starts there any more. */
    void breakDown(int machine) {
        kill(machine);
        broken.add(name(machine));
    }

    /** Nothing starts there but by hand, which nobody lends; whether something runs only its operator knows. */
    void leaveToItsOperator(int machine) {
        breakDown(machine);
        manual.add(name(machine));
    }

    /** The machine can't be asked for processes any more. */
    void mute(int machine) {
        mute.add(name(machine));
    }

    /** Something runs there that this cluster knows nothing of. */
    void occupy(int machine) {
        processes.put(name(machine), new MemberId(Long.MAX_VALUE));
    }

    /** Its members are called otherwise than the supervisor calls their machines. */
    void callOtherwise() {
        prefix = "other-";
    }

    /** Who runs there answers, and never becomes healthy. */
    void cripple(int machine) {
        crippled.add(name(machine));
    }

    /** An operator adds a learner on a machine that the supervisor knows nothing of. */
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

    /** From now on nobody tells of its peers, and the supervisor's own way is cut to who runs there. */
    void hushPeers(int unreachable) {
        hushed = true;
        unreached.add(name(unreachable));
    }

    void tellOfPeersAgain() {
        hushed = false;
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

    /** The supervisor dies; another one knows nothing. */
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

    /** A look after so long, in which nobody looked. */
    Decision tick(Duration since) {
        now = now.plus(since);
        members.replaceAll((id, member) -> isUp(id)
                ? new Member(member.machine(), member.role(), true, Math.max(0, member.lag() - CATCH_UP))
                : member);
        ClusterFacts facts = facts();
        List<Place> places = machines.stream()
                .map(name -> mute.contains(name)
                        ? Place.mute(spec(name))
                        : new Place(
                                spec(name),
                                manual.contains(name) ? Optional.empty() : Optional.of(processes.containsKey(name))))
                .toList();
        history = history.after(facts, now, places, limits, TICK);
        last = Rules.decide(new Situation(facts, history, places, shape, limits));
        if (last instanceof Decision.Change change) {
            requireSurvivable(facts, change.step());
            history = history.ordered(change.step(), now);
            changes.add(change);
            take(facts, change.step());
        }
        return last;
    }

    /** Invariant DP22, checked independently of the rules. */
    private static void requireSurvivable(ClusterFacts facts, Step step) {
        if (!(step instanceof Step.Promote) && !(step instanceof Step.Remove)) {
            return;
        }
        MemberId subject = step instanceof Step.Promote promote ? promote.learner() : ((Step.Remove) step).member();
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
            members.computeIfPresent(
                    promote.learner(), (id, learner) -> new Member(learner.machine(), Role.VOTER, true, 0));
        } else if (step instanceof Step.Remove remove) {
            Member removed = members.remove(remove.member());
            if (!stalled.contains(removed.machine())) {
                processes.remove(removed.machine(), remove.member());
            }
        } else if (step instanceof Step.Retire retire) {
            processes.remove(retire.member().name());
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
        leader = !held
                ? Optional.empty()
                : leader.filter(this::isUp).filter(members::containsKey).or(() -> members.keySet().stream()
                        .filter(id -> members.get(id).role() == Role.VOTER && isUp(id))
                        .min(Comparator.comparingLong(MemberId::value)));
        List<MemberFacts> listed = members.keySet().stream()
                .map(id -> facts(id, held))
                .sorted(Comparator.comparing(MemberFacts::name))
                .toList();
        return new ClusterFacts(new ClusterId(1), listed, held, List.of(), now);
    }

    private MemberFacts facts(MemberId id, boolean held) {
        Member member = members.get(id);
        Optional<MemberAnswer> answer = isUp(id) && !unreached.contains(member.machine())
                ? Optional.of(new MemberAnswer(
                        version,
                        leader,
                        7,
                        BEHIND * 2,
                        BEHIND * 2 - member.lag(),
                        new Revision(5),
                        1,
                        1,
                        held && !crippled.contains(member.machine()),
                        List.of()))
                : Optional.empty();
        Set<MemberId> peers = new HashSet<>();
        if (isUp(id) && !hushed) {
            members.keySet().stream()
                    .filter(other -> !other.equals(id) && isUp(other))
                    .forEach(peers::add);
        }
        return new MemberFacts(
                id,
                member.started() ? prefix + member.machine() : "",
                member.role(),
                spec(member.machine()).peerUrls(),
                List.of(),
                answer,
                peers,
                new MemberProcess(Optional.empty(), Optional.empty(), Optional.of(!hidden.contains(member.machine()))));
    }

    private long count(Role role, boolean up) {
        return members.entrySet().stream()
                .filter(each -> each.getValue().role() == role && (!up || isUp(each.getKey())))
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
