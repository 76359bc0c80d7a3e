package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.lab.NoSpaceAlarm;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.binary.ProgramVersion;
import io.understudy.local.fault.SlowDisk;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A cluster to which everything happens that one failure at a time can be: members killed, stalled, deaf and cut off,
 * with slow, frozen and full disks, members removed and added behind the supervisors' backs, the supervisor that acts
 * killed or stalled while it replaces one, or all of them cut off. Clients keep writing; after each fault the cluster returns to its declared shape, nothing acknowledged is lost, and no
 * change was made that the healthy members could not have survived.
 *
 * <p>Tests invariant DP22.
 */
@Tag("schedules")
final class SupervisorScheduleIT {

    /** Faults of each cluster. */
    private static final int ROUNDS = Integer.getInteger("understudy.rounds", 30);

    private static final int MOST_MILLIS = 6_000;
    private static final Duration SLOW_FSYNC = Duration.ofMillis(300);
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    /** {@code shape.deadTime} and 30 s, with a standby ready. */
    private static final Duration REPLACED = Duration.ofSeconds(33);

    private static final String SHAPE = """
            voters: %d
            standbys: 1
            %s
            deadTime: 3s
            stableTime: 1s
            holdOff: 2s
            joinDeadline: 30s
            changesPerHour: 1000
            """;

    private enum Fault {
        KILL,
        STALL,
        CUT_CLIENTS,
        CUT_PEERS,
        REMOVE,
        ADD,
        KILL_SUPERVISOR,
        STALL_SUPERVISOR,
        DEAFEN,
        SLOW_DISK,
        FREEZE_DISK,
        FILL,
        CUT_SUPERVISORS
    }

    /** Those of disks need strace. */
    private static final List<Fault> KINDS = Stream.of(Fault.values())
            .filter(fault -> SlowDisk.isAvailable() || (fault != Fault.SLOW_DISK && fault != Fault.FREEZE_DISK))
            .toList();

    private final List<Fault> left = new ArrayList<>();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void theClusterReturnsToItsShapeAfterEveryFault(int voters) throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        System.out.println(voters + " voting members, understudy.seed=" + seed);
        Random random = new Random(seed);
        // A standby, two spare ones, and one for a read replica where etcd has room for another learner.
        int machines = voters + 4;
        boolean hasReplica = EtcdBinaries.find().version().isAtLeast(new ProgramVersion(3, 6, 0));
        int learners = hasReplica ? 2 : 1;
        String replica = "readReplicas: " + SupervisedCluster.name(machines - 1) + "\nmaxLearners: 2";
        String shape = SHAPE.formatted(voters, hasReplica ? replica : "");
        try (SupervisedCluster cluster = SlowDisk.isAvailable()
                        ? SupervisedCluster.foundWithFsync(folder, machines, voters, shape)
                        : SupervisedCluster.found(folder, machines, voters, shape);
                Writer writer = Writer.start(cluster.clientUrls())) {
            SupervisedCluster.SupervisorJvm[] supervisors = {cluster.superviseApart(), cluster.superviseApart()};
            await("the declared shape").atMost(PATIENCE).until(() -> cluster.isOf(voters, learners));
            for (int number = 1; number <= ROUNDS; number++) {
                Fault fault = next(random);
                int victim = random.nextInt(machines);
                int millis = random.nextInt(MOST_MILLIS);
                String description = "fault " + number + ": " + fault + " of " + SupervisedCluster.name(victim)
                        + " for " + millis + " ms";
                System.out.println(description);
                int before = writer.count();
                int which = supervisors[0].isActive() ? 0 : 1;
                if (fault == Fault.KILL_SUPERVISOR) {
                    cluster.kill(victim);
                    TimeUnit.MILLISECONDS.sleep(millis);
                    // Its events are lost with it.
                    assertSurvivable(supervisors[which].state());
                    supervisors[which].process().destroyForcibly();
                    supervisors[which] = cluster.superviseApart();
                } else if (fault == Fault.STALL_SUPERVISOR) {
                    cluster.kill(victim);
                    TimeUnit.MILLISECONDS.sleep(MOST_MILLIS - millis);
                    supervisors[which].pause();
                    TimeUnit.MILLISECONDS.sleep(millis);
                    supervisors[which].resume();
                } else {
                    act(cluster, fault, victim, millis);
                }
                long ended = System.nanoTime();
                await("the tolerance after " + description).atMost(REPLACED).until(() -> cluster.look()
                        .filter(facts -> facts.isConfirmed()
                                && facts.voters().size() == voters
                                && facts.healthyVoters().size() == voters)
                        .isPresent());
                System.out.printf(
                        "tolerance restored %d ms after the fault%n",
                        Duration.ofNanos(System.nanoTime() - ended).toMillis());
                await(description).atMost(PATIENCE).until(() -> cluster.isOf(voters, learners));
                await("writes after " + description).atMost(PATIENCE).until(() -> writer.count() > before);
                assertThat(writer.lost())
                        .as("acknowledged and lost after %s", description)
                        .isEmpty();
                for (SupervisedCluster.SupervisorJvm supervisor : supervisors) {
                    assertSurvivable(supervisor.state());
                }
            }
            System.out.printf(
                    "%d faults, %d writes acknowledged, the longest stall %d ms%n",
                    ROUNDS, writer.count(), writer.longestStall().toMillis());
        }
    }

    /** Each once before any again: a few faults are of as many kinds. */
    private Fault next(Random random) {
        if (left.isEmpty()) {
            left.addAll(KINDS);
        }
        return left.remove(random.nextInt(left.size()));
    }

    private static void act(SupervisedCluster cluster, Fault fault, int victim, int millis) throws Exception {
        switch (fault) {
            case KILL -> cluster.kill(victim);
            case REMOVE -> removeByHand(cluster, victim);
            case ADD -> removeLearnersByHand(cluster);
            case STALL -> {
                cluster.pause(victim);
                TimeUnit.MILLISECONDS.sleep(millis);
                cluster.resume(victim);
            }
            case CUT_CLIENTS -> {
                cluster.cutClients(victim);
                TimeUnit.MILLISECONDS.sleep(millis);
                cluster.heal(victim);
            }
            case CUT_PEERS -> {
                cluster.mute(victim);
                TimeUnit.MILLISECONDS.sleep(millis);
                cluster.heal(victim);
            }
            case DEAFEN -> {
                cluster.deafen(victim);
                TimeUnit.MILLISECONDS.sleep(millis);
                cluster.heal(victim);
            }
            case SLOW_DISK, FREEZE_DISK -> {
                cluster.delayFsyncs(victim, fault == Fault.SLOW_DISK ? SLOW_FSYNC : PATIENCE);
                TimeUnit.MILLISECONDS.sleep(millis);
                cluster.heal(victim);
            }
            case FILL -> {
                NoSpaceAlarm alarm = NoSpaceAlarm.raise(cluster.look().orElseThrow().healthyVoters().stream()
                        .filter(voter -> !voter.name().equals(SupervisedCluster.name(victim)))
                        .findFirst()
                        .orElseThrow()
                        .clientUrls()
                        .get(0));
                cluster.kill(victim);
                TimeUnit.MILLISECONDS.sleep(millis);
                // The killed member may have been the leader.
                await("the end of the alarm")
                        .atMost(PATIENCE)
                        .ignoreExceptions()
                        .untilAsserted(alarm::lift);
            }
            case CUT_SUPERVISORS -> {
                int machines = cluster.settings().machines().size();
                cluster.kill(victim);
                IntStream.range(0, machines).forEach(cluster::cutClients);
                TimeUnit.MILLISECONDS.sleep(millis);
                IntStream.range(0, machines).forEach(cluster::heal);
            }
            default -> throw new IllegalArgumentException("no fault of a member: " + fault);
        }
    }

    /** An operator removes a member, whatever the declared shape. */
    private static void removeByHand(SupervisedCluster cluster, int victim) {
        ClusterFacts facts = cluster.look().orElseThrow();
        List<MemberFacts> members = facts.members();
        cluster.remove(members.get(victim % members.size()).id());
    }

    /** An operator removes the standby, and adds a member on another machine without starting it. */
    private static void removeLearnersByHand(SupervisedCluster cluster) {
        cluster.look().orElseThrow().learners().forEach(learner -> cluster.remove(learner.id()));
        cluster.addOnFreeMachine();
    }

    private static void assertSurvivable(String state) throws Exception {
        for (JsonNode event : new JsonMapper().readTree(state).path("events")) {
            // The start of a process that has ended is the remedy for a lost quorum.
            boolean isStart = event.path("step").asText().startsWith("start ");
            if (event.path("outcome").asText().equals("done") && event.has("after") && !isStart) {
                assertThat(event.path("after").asText()).as("%s", event).doesNotContain("no quorum");
            }
        }
    }
}
