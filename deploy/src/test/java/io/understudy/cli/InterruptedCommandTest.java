package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.goal.MemberGoals.AddMember;
import io.understudy.cluster.goal.MemberGoals.PromoteMember;
import io.understudy.cluster.goal.Roll;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.Hashes;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan;
import io.understudy.cluster.plan.Step;
import io.understudy.cluster.run.OperationTimeouts;
import io.understudy.cluster.run.Outcome;
import io.understudy.cluster.run.RunListener;
import io.understudy.cluster.run.Runner;
import io.understudy.cluster.run.StepWork;
import io.understudy.etcd.EtcdVersion;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.ParameterException;

/**
 * Commands that are killed after any effect, repeatedly, and run again or undone. All states that a killed command can
 * leave are enumerated; from each of them the command ends as one that was not disturbed.
 *
 * <p>Killed before an effect, it leaves the state after the previous one, which the next command observes first.
 *
 * <p>Tests invariant DP19.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Tag("schedules")
@Tag("verify")
final class InterruptedCommandTest {

    /** Requests to members in memory have their effects at once, so nothing is waited for. */
    private static final OperationTimeouts PATIENCE = patience(Duration.ofMillis(50), Duration.ofSeconds(30));

    /** A request that was not sent is repeated once its effect has not been seen for a while. */
    private static final OperationTimeouts UNSENT = patience(Duration.ofSeconds(30), Duration.ofMillis(200));

    private static OperationTimeouts patience(Duration settle, Duration request) {
        return new OperationTimeouts(
                Duration.ofSeconds(1),
                Duration.ofMillis(1),
                settle,
                request,
                Duration.ofSeconds(30),
                Duration.ofSeconds(30));
    }

    /** A command, after which the cluster is as before or as requested. */
    private interface Order extends Function<ClusterChange, Goal> {}

    /**
     * A command on a cluster.
     *
     * @param name as it is given
     * @param before the cluster
     * @param order the command
     * @param undo commands after which the cluster is as before; none if there is no way back
     */
    record Case(String name, MemoryCluster before, Order order, List<Order> undo) {
        @Override
        public String toString() {
            return name;
        }
    }

    /** How a command ended. */
    private enum End {
        REACHED,
        REFUSED,
        FAILED,
        USAGE
    }

    private record Result(End end, String text) {}

    /** What a command may do although one of three voting members is unhealthy. */
    private static final Set<String> IS_OF_FAULTY = Set.of(
            "3: (remove|replace|replace an ID|replace an ID in its place|demote|migrate|migrate an ID), m3 .*",
            "3: replace by a standby, .*",
            "3: promote, .*",
            "3: (remove|replace|demote|migrate) the leader, m1 .*",
            "3: roll.*");

    /** Three voting members show the same, and are cheaper; in the part schedules five have faults too. */
    private static final boolean LONG = "long".equals(System.getProperty("understudy.schedule"));

    private static final String STOPPED = " stopped";
    private static final String SILENT = " silent";

    private final Map<String, Connected> connected = new HashMap<>();

    @AfterAll
    void end() {
        connected.values().forEach(each -> each.cluster().close());
    }

    static Stream<Case> cases() {
        return Stream.of(
                        changes(3).flatMap(each -> withFaults(each, "m1", "m2", "m3")),
                        changes(5).flatMap(each -> LONG ? withFaults(each, "m2") : Stream.of(each)),
                        Stream.of(
                                of("3: scale 1", cluster(3), scale(1)),
                                of("5: scale 3", cluster(5), scale(3)),
                                of("1: scale 3", cluster(1), scale(3), remove("m3"), remove("m2"))),
                        Stream.of(
                                        roll("3: roll", "3.6.16", "3.6.16", null),
                                        roll("3: roll --to-version 3.6.17", "3.6.16", "3.6.17", "3.6.17"))
                                .flatMap(each -> withFaults(each, "m2")),
                        Stream.of(
                                roll("3: roll --to-version 3.7.3 of 3.6", "3.6.16", "3.7.3", "3.7.3"),
                                roll("3: roll --to-version 3.6.16 of 3.5", "3.5.30", "3.6.16", "3.6.16"),
                                roll("3: downgrade --to-version 3.6.16", "3.7.3", "3.6.16", "3.6.16")),
                        repairs())
                .flatMap(each -> each);
    }

    /** Of the last of so many voting members, or of the first, which leads. */
    private static Stream<Case> changes(int voters) {
        String last = "m" + voters;
        String next = "m" + (voters + 1);
        String first = voters + ": ";
        MemoryCluster standby = cluster(voters);
        standby.addStandby(next);
        MemoryCluster lostStandby = standby.copy();
        lostStandby.end(next);
        String spare = "m" + (voters + 2);
        return Stream.of(
                of(first + "add", cluster(voters), seen -> new AddMember(place(seen, next), true), remove(next)),
                of(
                        first + "add --promote never",
                        cluster(voters),
                        seen -> new AddMember(place(seen, next), false),
                        remove(next)),
                of(first + "remove", cluster(voters), remove(last)),
                of(first + "remove the leader", cluster(voters), remove("m1")),
                of(first + "replace", cluster(voters), replace(last, next, false), remove(next)),
                of(first + "replace the leader", cluster(voters), replace("m1", next, false), remove(next)),
                of(
                        first + "replace an ID",
                        cluster(voters),
                        replace(cluster(voters).id(last).toString(), next, false),
                        remove(next)),
                of(
                        first + "replace an ID in its place",
                        cluster(voters),
                        replace(cluster(voters).id(last).toString(), last, false)),
                of(first + "replace by a standby", standby, replace(last, next, false)),
                of(first + "replace a standby", standby, replace(next, spare, false)),
                of(first + "replace a stopped standby", lostStandby, replace(next, spare, false)),
                of(
                        first + "promote",
                        standby,
                        seen -> new PromoteMember(seen.member(next).id())),
                of(first + "demote", cluster(voters), seen -> ClusterGoals.demote(seen, last)),
                of(first + "demote the leader", cluster(voters), seen -> ClusterGoals.demote(seen, "m1")),
                of(first + "scale up", cluster(voters), scale(voters + 2), remove("m" + (voters + 2)), remove(next)),
                migration(first + "migrate", voters, last, last),
                migration(
                        first + "migrate an ID",
                        voters,
                        last,
                        cluster(voters).id(last).toString()),
                migration(first + "migrate the leader", voters, "m1", "m1"));
    }

    /** The first member leads, and two more machines are configured. */
    private static MemoryCluster cluster(int voters) {
        return new MemoryCluster(voters + 2, voters, "3.6.16", "3.6.16");
    }

    private static Stream<Case> repairs() {
        return Stream.of(
                repair("NOSPACE", cluster -> cluster.alarm("NOSPACE", "m2")),
                repair("NOSPACE of two", cluster -> {
                    cluster.alarm("NOSPACE", "m1");
                    cluster.alarm("NOSPACE", "m2");
                }),
                repair("NOSPACE and a stopped member", cluster -> {
                    cluster.alarm("NOSPACE", "m1");
                    cluster.end("m3");
                }),
                repair("CORRUPT", cluster -> {
                    cluster.corrupt("m3");
                    cluster.alarm("CORRUPT", "m3");
                }),
                repair("CORRUPT and a stopped member", cluster -> {
                    cluster.corrupt("m3");
                    cluster.alarm("CORRUPT", "m3");
                    cluster.end("m2");
                }),
                repair("CORRUPT of the leader", cluster -> {
                    cluster.corrupt("m1");
                    cluster.alarm("CORRUPT", "m2");
                }),
                repair("CORRUPT and NOSPACE", cluster -> {
                    cluster.corrupt("m3");
                    cluster.alarm("CORRUPT", "m3");
                    cluster.alarm("NOSPACE", "m2");
                }),
                repair("a stopped member", cluster -> cluster.end("m2")),
                repair("two stopped members", cluster -> {
                    cluster.end("m1");
                    cluster.end("m3");
                }),
                repair("NOSPACE and two stopped members", cluster -> {
                    cluster.alarm("NOSPACE", "m2");
                    cluster.end("m1");
                    cluster.end("m3");
                }));
    }

    /** One of the members has ended or is silent, or processes of removed ones linger. */
    private static Stream<Case> withFaults(Case each, String... names) {
        Map<String, Consumer<MemoryCluster>> faults = new TreeMap<>();
        faults.put("", cluster -> {});
        faults.put(", removed ones linger", MemoryCluster::linger);
        for (String name : names) {
            faults.put(", " + name + STOPPED, cluster -> cluster.end(name));
            faults.put(", " + name + SILENT, cluster -> cluster.silence(name));
        }
        return faults.entrySet().stream().map(fault -> {
            MemoryCluster before = each.before().copy();
            fault.getValue().accept(before);
            // A faulty member may be better off afterwards.
            boolean isFaulty =
                    fault.getKey().endsWith(STOPPED) || fault.getKey().endsWith(SILENT);
            return new Case(each.name() + fault.getKey(), before, each.order(), isFaulty ? List.of() : each.undo());
        });
    }

    private static Case of(String name, MemoryCluster before, Order order, Order... undo) {
        return new Case(name, before, order, List.of(undo));
    }

    private static MemberSpec place(ClusterChange seen, String name) {
        return seen.place(name, List.of(), List.of());
    }

    private static Order remove(String member) {
        return seen -> ClusterGoals.remove(seen, member);
    }

    private static Order scale(int voters) {
        return seen -> ClusterGoals.scale(seen, voters, Map.of());
    }

    private static Order replace(String member, String successor, boolean isMigrated) {
        ClusterCommand.Replacement replacement = new ClusterCommand.Replacement();
        replacement.member = member;
        replacement.successor = successor;
        replacement.isMigrated = isMigrated;
        return seen -> ClusterGoals.replace(seen, replacement);
    }

    private static Case migration(String name, int voters, String from, String given) {
        MemoryCluster cluster = cluster(voters);
        String to = "m" + (voters + 1);
        cluster.mayRestart(from, to);
        return of(name, cluster, replace(given, to, true), replace(to, from, true));
    }

    private static Case roll(String name, String running, String installed, @Nullable String to) {
        MemoryCluster cluster = new MemoryCluster(3, 3, running, installed);
        cluster.mayRestart("m1", "m2", "m3");
        cluster.roll();
        return of(
                name,
                cluster,
                seen -> new Roll(
                        MemoryCluster.STARTED.plusSeconds(50),
                        to == null ? null : EtcdVersion.parse(to),
                        to == null ? Optional.empty() : Optional.of(MemoryCluster.NEW_PROGRAM),
                        name.contains("downgrade"),
                        seen.work()::hasPerformed));
    }

    private static Case repair(String name, Consumer<MemoryCluster> fault) {
        MemoryCluster cluster = cluster(3);
        fault.accept(cluster);
        // The machine of a successor depends on whether the removed member is still listed.
        cluster.takeAnyPlace();
        return of("3: repair " + name, cluster, ClusterGoals::repair);
    }

    @ParameterizedTest
    @MethodSource("cases")
    void everyStateThatAKilledCommandLeavesLeadsToTheSameEnd(Case each) throws InterruptedException {
        MemoryCluster undisturbed = each.before().copy();
        Result result = untilDone(each.order(), undisturbed);
        if (isRefusable(each)) {
            assertThat(result.end()).as("%s", result).isIn(End.REACHED, End.REFUSED);
            assertThat(undisturbed.effects()).as("%s", result).isEmpty();
            return;
        }
        assertThat(result.end()).as("%s", result).isEqualTo(End.REACHED);
        List<String> end = undisturbed.end();
        List<String> start = each.before().copy().end();
        Map<String, List<String>> known = new HashMap<>(Map.of(each.before().key(), List.of()));
        Deque<MemoryCluster> open = new ArrayDeque<>(List.of(each.before()));
        while (!open.isEmpty()) {
            MemoryCluster state = open.remove();
            List<String> path = known.get(state.key());
            MemoryCluster again = state.copy();
            run(each.order(), again, PATIENCE);
            if (known.putIfAbsent(again.key(), List.of("after " + again.effects())) == null) {
                open.add(again.copy());
            }
            requireEnd(each, state.copy(), end, path);
            if (state.hasAllOf(each.before())) {
                requireUndone(each, state, start, path);
            }
            for (int effect = 0; effect < again.effects().size(); effect++) {
                MemoryCluster killed = state.copy();
                killed.killAfter(effect);
                run(each.order(), killed, PATIENCE);
                if (!known.containsKey(killed.key())) {
                    List<String> longer = new ArrayList<>(path);
                    longer.add("killed after " + killed.effects());
                    known.put(killed.key(), longer);
                    open.add(killed.copy());
                }
            }
        }
        for (int request : undisturbed.requests()) {
            MemoryCluster unanswered = each.before().copy();
            unanswered.loseResponse(request);
            requireEnd(each, unanswered, end, List.of("response " + request + " lost"));
        }
    }

    @Test
    void aRepairOfAStoppedMemberAndAFullDatabaseNeedsOneRun() throws InterruptedException {
        Case each = cases().filter(one -> one.name().equals("3: repair NOSPACE and a stopped member"))
                .findFirst()
                .orElseThrow();
        Result result = run(each.order(), each.before().copy(), PATIENCE);
        assertThat(result.end()).as("%s", result).isEqualTo(End.REACHED);
    }

    /** Only the removal of a corrupt member leaves a voting member missing. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void alarmsOfRemovedMembersAddNoVotingMember(boolean isDeclared) throws InterruptedException {
        MemoryCluster cluster = cluster(3);
        if (!isDeclared) {
            cluster.undeclare();
        }
        for (String removed : List.of("m4", "m5")) {
            cluster.addStandby(removed);
            cluster.alarm("NOSPACE", removed);
            cluster.remove(removed);
        }

        Result result = run(ClusterGoals::repair, cluster, PATIENCE);

        assertThat(result.end()).as("%s", result).isEqualTo(End.REACHED);
        assertThat(cluster.effects()).noneMatch(effect -> effect.contains("add"));
        assertThat(cluster.observe(Duration.ZERO).members()).hasSize(3);
    }

    /** The successor has its own data, which are good. */
    @Test
    void dataOfARemovedMemberAreNotMovedToAMember() throws InterruptedException {
        MemoryCluster cluster = cluster(3);
        cluster.addStandby("m4");
        cluster.remove("m4");
        MemoryCluster stopped = cluster.copy();
        stopped.end("m2");
        for (MemoryCluster each : List.of(cluster, stopped)) {
            Result result = run(replace("m4", "m2", true), each, PATIENCE);
            assertThat(result.end()).as("%s", result).isEqualTo(End.REFUSED);
            assertThat(result.text()).contains("m4 is not a member, and its data are not those of m2");
            assertThat(each.effects()).isEmpty();
        }
    }

    /** A supervisor only reports it then, and a failover does not use it. */
    @Test
    void aDeclaredReadReplicaBecomesNoVotingMember() throws InterruptedException {
        MemoryCluster cluster = cluster(3);
        cluster.addStandby("m4");
        cluster.declareReplicas("m4", "m5");
        for (Order order : List.<Order>of(
                seen -> ClusterGoals.add(seen, place(seen, "m5"), ClusterCommand.Promote.AUTO),
                seen -> ClusterGoals.promote(seen, "m4"),
                replace("m3", "m4", false),
                replace("m3", "m5", true),
                seen -> ClusterGoals.scale(
                        seen, 5, Map.of("m5", MemoryCluster.spec(5).peerUrls().get(0))))) {
            Result result = run(order, cluster, PATIENCE);
            assertThat(result.end()).as("%s", result).isEqualTo(End.REFUSED);
            assertThat(result.text()).contains("replica-stays-learner", "is in shape.readReplicas");
        }
        Result added = run(seen -> ClusterGoals.add(seen, place(seen, "m5"), null), cluster, PATIENCE);
        assertThat(added.text()).contains("m5 is a learner in sync");
    }

    /** The default of shape.voters is not the size of this cluster. */
    @Test
    void withoutADeclaredShapeAVotingMemberIsMissingOrNot() throws InterruptedException {
        MemoryCluster cluster = cluster(5);
        cluster.undeclare();
        cluster.remove("m5");
        MemoryCluster resumed = cluster.copy();

        Result result = run(replace("m3", "m4", false), cluster, PATIENCE);

        assertThat(result.end()).as("%s after %s", result, cluster.effects()).isEqualTo(End.REFUSED);
        assertThat(cluster.effects()).isEmpty();
        assertThat(run(replace("m5", "m6", false), resumed, PATIENCE).end()).isEqualTo(End.REACHED);
    }

    @ParameterizedTest
    @ValueSource(strings = {"3: add", "3: remove the leader", "3: migrate the leader", "3: repair NOSPACE"})
    void aRequestThatWasNotSentIsRepeated(String name) throws InterruptedException {
        Case each = cases().filter(one -> one.name().equals(name)).findFirst().orElseThrow();
        MemoryCluster undisturbed = each.before().copy();
        run(each.order(), undisturbed, PATIENCE);
        for (int request : undisturbed.requests()) {
            MemoryCluster unsent = each.before().copy();
            unsent.loseRequest(request);
            Result result = run(each.order(), unsent, UNSENT);
            assertThat(result.end()).as("%s after %s", result, unsent.effects()).isEqualTo(End.REACHED);
            assertThat(unsent.end()).isEqualTo(undisturbed.end());
        }
    }

    /** Of three voting members, one of which is unhealthy, a change needs the other two. */
    private static boolean isRefusable(Case each) {
        boolean isFaulty = each.name().endsWith(STOPPED) || each.name().endsWith(SILENT);
        boolean isOfFaulty = IS_OF_FAULTY.stream().anyMatch(each.name()::matches);
        return isFaulty && each.name().startsWith("3: ") && !isOfFaulty;
    }

    /** A command that names an ID may no longer find it; the state is what counts. */
    private void requireEnd(Case each, MemoryCluster cluster, List<String> end, List<String> path)
            throws InterruptedException {
        Result result = untilDone(each.order(), cluster);
        assertThat(cluster.end())
                .as("%s after %s, then %s", result, path, cluster.effects())
                .isEqualTo(end);
        assertThat(result.end()).as("%s after %s", result, path).isIn(End.REACHED, End.USAGE);
    }

    /** A repair that restored the quorum shows another plan, which the operator confirms by another run. */
    private Result untilDone(Order order, MemoryCluster cluster) throws InterruptedException {
        Result result = run(order, cluster, PATIENCE);
        int effects = 0;
        while (result.end() == End.REFUSED && cluster.effects().size() > effects) {
            effects = cluster.effects().size();
            result = run(order, cluster, PATIENCE);
        }
        return result;
    }

    private void requireUndone(Case each, MemoryCluster state, List<String> start, List<String> path)
            throws InterruptedException {
        MemoryCluster undone = state.copy();
        List<Result> results = new ArrayList<>();
        for (Order order : each.undo()) {
            results.add(run(order, undone, PATIENCE));
        }
        if (!results.isEmpty()) {
            assertThat(undone.end()).as("undone by %s after %s", results, path).isEqualTo(start);
        }
    }

    private Result run(Order order, MemoryCluster cluster, OperationTimeouts patience) throws InterruptedException {
        StepWork work = new StepWork(cluster, cluster);
        ClusterFacts facts = cluster.observe(Duration.ZERO);
        Connected to = connected.computeIfAbsent(
                cluster.declared() + " of " + cluster.places().size() + cluster.replicas(),
                unused -> Connected.to(cluster));
        try {
            Seen seen = new Seen(to, cluster, facts, work);
            Goal goal = order.apply(seen);
            Plan plan = goal.plan(facts);
            if (!(plan instanceof Plan.Steps steps)) {
                return new Result(plan instanceof Plan.Done ? End.REACHED : End.REFUSED, plan.toString());
            }
            if (!seen.obstacles(steps.steps()).isEmpty()) {
                return new Result(End.REFUSED, seen.obstacles(steps.steps()).toString());
            }
            Outcome outcome =
                    new Runner(cluster, work, patience, RunListener.NONE, turn(cluster)).run(goal, steps.steps());
            return new Result(
                    outcome instanceof Outcome.Reached
                            ? End.REACHED
                            : outcome instanceof Outcome.Refused ? End.REFUSED : End.FAILED,
                    outcome.toString());
        } catch (MemoryCluster.KilledError e) {
            return new Result(End.FAILED, "killed");
        } catch (ParameterException e) {
            return new Result(End.USAGE, String.valueOf(e.getMessage()));
        }
    }

    /** As {@link TurnPermit}, with which the cluster is observed again. */
    private static Runner.Permit turn(MemoryCluster cluster) {
        Set<String> taken = new HashSet<>();
        return (Step step, ClusterFacts facts) -> {
            if (!taken.isEmpty()
                    || TurnPermit.isHarmless(step)
                    || !facts.alarms().isEmpty()) {
                return Runner.Permission.GRANTED;
            }
            cluster.effect("take the turn");
            taken.add("turn");
            return new Runner.Permission(Optional.empty(), true);
        };
    }

    /** The configuration of a command, with which nothing connects. */
    private record Connected(ClusterFlags.Change flags, ClusterConnection cluster) {

        static Connected to(MemoryCluster cluster) {
            Flags flags = new Flags();
            List<String> arguments = new ArrayList<>(List.of("--take-over", "--yes", "--endpoints=http://127.0.0.1:1"));
            if (cluster.declared() > 0) {
                arguments.add("--set=shape.voters=" + cluster.declared());
            }
            if (!cluster.replicas().isEmpty()) {
                arguments.add("--set=shape.readReplicas=" + String.join(",", cluster.replicas()));
            }
            for (int number = 1; number <= cluster.places().size(); number++) {
                String key = "--set=machines.m" + number + ".";
                arguments.add(key + "peerUrls="
                        + MemoryCluster.spec(number).peerUrls().get(0));
                arguments.add(key + "clientUrls="
                        + MemoryCluster.spec(number).clientUrls().get(0));
                arguments.add(key + "dataDirectory=/data/m" + number);
            }
            Converters.register(new CommandLine(flags).setCaseInsensitiveEnumValuesAllowed(true), "1ms")
                    .parseArgs(arguments.toArray(String[]::new));
            return new Connected(flags.change, flags.change.connect());
        }
    }

    /** What a command sees of a cluster in memory. */
    private static final class Seen extends ClusterChange {

        private final MemoryCluster cluster;

        Seen(Connected to, MemoryCluster cluster, ClusterFacts facts, StepWork work) {
            super(to.flags(), to.cluster(), facts, work);
            this.cluster = cluster;
        }

        @Override
        boolean isLost(MemberId member) {
            return facts().member(member).filter(MemberFacts::isHealthy).isEmpty();
        }

        @Override
        Hashes<MemberId> hashes(Revision revision) {
            return cluster.hashes();
        }

        @Override
        Map<MemberId, String> alarmsOfMoves() {
            return Map.of();
        }

        @Override
        void notes(String what) {}
    }

    @Command
    private static final class Flags {
        @Mixin
        private ClusterFlags.Change change;
    }
}
