package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.supervise.rule.MemberState;
import io.understudy.local.fault.SlowDisk;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Faults of voting members that are replaced, and faults that are not.
 *
 * <p>Tests invariant DP25.
 */
@Tag("schedules")
final class SupervisorFaultsIT {

    private static final int ROUNDS = Integer.getInteger("understudy.rounds", 3);
    private static final int SCHEDULES = Integer.getInteger("understudy.rounds", 50);
    private static final Duration PATIENCE = Duration.ofMinutes(5);
    private static final Duration DEAD = Duration.ofSeconds(5);
    private static final Duration SLOW_FSYNC = Duration.ofMillis(300);

    /** Each look at the cluster reads the metrics pages of all members. */
    private static final Duration LOOK = Duration.ofMillis(300);

    /** Above the TTL of 3 s, etcd's check of expired leases and one read interval. */
    private static final Duration NEXT_SUPERVISOR = Duration.ofSeconds(5);

    private static final String SHAPE = """
            voters: 3
            standbys: 1
            deadTime: 5s
            stableTime: 1s
            holdOff: 2s
            joinDeadline: 60s
            changesPerHour: 1000
            """;

    private enum Replaced {
        HUNG_FOLLOWER(MemberState.HUNG),
        HUNG_LEADER(MemberState.HUNG),
        HUNG_LEADER_AND_SUPERVISOR(MemberState.HUNG),
        MUTE_FOLLOWER(MemberState.CUT),
        DEAF_FOLLOWER(MemberState.DEAF),
        /** A commit of the database that does not end holds the lock that Status needs; without one, it is answered. */
        FROZEN_DISK_OF_FOLLOWER(MemberState.HUNG, MemberState.CUT),
        KILLED_LEADER(MemberState.DEAD);

        @SuppressWarnings("ImmutableEnumChecker")
        private final List<String> states;

        Replaced(MemberState... states) {
            this.states = Stream.of(states).map(MemberState::label).toList();
        }
    }

    private static final Set<Replaced> FOLLOWERS = EnumSet.of(
            Replaced.HUNG_FOLLOWER, Replaced.MUTE_FOLLOWER, Replaced.DEAF_FOLLOWER, Replaced.FROZEN_DISK_OF_FOLLOWER);

    private enum Kept {
        FLAP,
        SEVERAL_FLAP,
        ALL_STALL,
        SUPERVISOR_CUT_OFF,
        CLIENTS_CUT,
        SLOW_SHARED_DISK,
        CLOCK_JUMP
    }

    /** Sets the clock of this machine, as root: only on request. */
    private static final boolean HAS_CLOCK_JUMPS = Boolean.getBoolean("understudy.clock.jumps");

    private static final int MOST_JUMP_SECONDS = 120;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource
    void aVoterWithALastingFaultIsReplaced(Replaced fault) throws Exception {
        assumeTrue(SlowDisk.isAvailable() || fault != Replaced.FROZEN_DISK_OF_FOLLOWER, "strace is in PATH");
        try (SupervisedCluster cluster = SupervisedCluster.foundWithFsync(folder, 6, 3, SHAPE);
                Writer writer = Writer.start(cluster.clientUrls())) {
            SupervisedCluster.SupervisorJvm[] supervisors = {cluster.superviseApart(), cluster.superviseApart()};
            for (int round = 0; round < ROUNDS; round++) {
                await("the declared shape").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 1));
                ClusterFacts facts = cluster.look().orElseThrow();
                String leader = cluster.leader();
                String victim = FOLLOWERS.contains(fault)
                        ? facts.voters().stream()
                                .filter(voter -> !voter.name().equals(leader))
                                .findFirst()
                                .orElseThrow()
                                .name()
                        : leader;
                int index = SupervisedCluster.index(victim);
                switch (fault) {
                    case MUTE_FOLLOWER -> cluster.mute(index);
                    case DEAF_FOLLOWER -> cluster.deafen(index);
                    case FROZEN_DISK_OF_FOLLOWER -> cluster.delayFsyncs(index, PATIENCE);
                    case KILLED_LEADER -> cluster.kill(index);
                    default -> cluster.pause(index);
                }
                long began = System.nanoTime();
                if (fault == Replaced.HUNG_LEADER_AND_SUPERVISOR) {
                    int active = supervisors[0].isActive() ? 0 : 1;
                    supervisors[active].process().destroyForcibly();
                    await("the other supervisor to act")
                            .atMost(PATIENCE)
                            .pollInterval(Duration.ofMillis(50))
                            .until(supervisors[1 - active]::isActive);
                    System.out.printf("another supervisor is active after %d ms%n", millisSince(began));
                    supervisors[active] = cluster.superviseApart();
                }
                await(fault + " of " + victim)
                        .atMost(PATIENCE)
                        .pollInterval(LOOK)
                        .untilAsserted(
                                () -> assertThat(cluster.voters()).hasSize(3).doesNotContain(victim));
                System.out.printf(
                        "%s of %s: replaced after %d ms, dead time %d ms%n",
                        fault, victim, millisSince(began), DEAD.toMillis());
                assertThat(supervisors[0].state() + supervisors[1].state())
                        .containsPattern(victim + " is (" + String.join("|", fault.states) + ") since ");
                cluster.heal(index);
                cluster.resume(index);
                assertThat(writer.lost()).isEmpty();
            }
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"STUCK_LEADER", "SLOW_DISK"})
    void leadershipMovesFromAFaultyLeader(MemberState state) throws Exception {
        assumeTrue(SlowDisk.isAvailable(), "strace is in PATH");
        try (SupervisedCluster cluster = SupervisedCluster.foundWithFsync(folder, 5, 3, SHAPE);
                Writer writer = Writer.start(cluster.clientUrls())) {
            SupervisorProcess supervisor = cluster.supervise();
            await("the declared shape").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 1));
            Set<String> voters = cluster.voters();
            String leader = cluster.leader();
            int index = SupervisedCluster.index(leader);
            if (state == MemberState.STUCK_LEADER) {
                cluster.freezeDatabase(index);
            } else {
                cluster.delayFsyncs(index, SLOW_FSYNC);
            }
            long began = System.nanoTime();
            await("another leader").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.look()
                    .flatMap(ClusterFacts::leader)
                    .filter(next -> !next.name().equals(leader))
                    .isPresent());
            System.out.printf(
                    "%s: another leader after %d ms, dead time %d ms%n", state, millisSince(began), DEAD.toMillis());
            awaitRule(supervisor, state);
            if (state == MemberState.STUCK_LEADER) {
                awaitRule(supervisor, MemberState.UNREACHABLE);
            }
            cluster.heal(index);
            await("the declared shape").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 1));
            assertThat(cluster.voters()).isEqualTo(voters);
            assertThat(writer.lost()).isEmpty();
        }
    }

    @Test
    void aMemberThatFailsAgainAndAgainIsReported() throws Exception {
        try (SupervisedCluster cluster = SupervisedCluster.found(folder, 5, 3, SHAPE)) {
            SupervisorProcess supervisor = cluster.supervise();
            await("the declared shape").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 1));
            int follower = SupervisedCluster.index(cluster.follower(0, 1));
            for (int flap = 0; flap < 3; flap++) {
                cluster.pause(follower);
                await("the fault").atMost(PATIENCE).until(() -> isSuspected(supervisor));
                cluster.resume(follower);
                await("its end").atMost(PATIENCE).until(() -> !isSuspected(supervisor));
            }
            awaitRule(supervisor, MemberState.FLAPPING);
        }
    }

    private static boolean isSuspected(SupervisorProcess supervisor) {
        return supervisor.state().findings().values().stream()
                .anyMatch(finding -> finding.state() == MemberState.SUSPECT);
    }

    private static void awaitRule(SupervisorProcess supervisor, MemberState state) {
        await("a record of " + state.label()).atMost(PATIENCE).untilAsserted(() -> assertThat(
                        supervisor.state().events())
                .extracting(event -> event.decision().rule())
                .contains(state.label()));
    }

    /** Killed, or hung as its machine may be. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anotherSupervisorIsActiveWithinFiveSeconds(boolean isKilled) throws Exception {
        try (SupervisedCluster cluster =
                SupervisedCluster.found(folder, 3, 3, SHAPE.replace("standbys: 1", "standbys: 0"))) {
            SupervisedCluster.SupervisorJvm[] supervisors = {cluster.superviseApart(), cluster.superviseApart()};
            for (int round = 0; round < ROUNDS; round++) {
                await("one active, one standby")
                        .atMost(PATIENCE)
                        .until(() -> (supervisors[0].isActive() && supervisors[1].isStandby())
                                || (supervisors[1].isActive() && supervisors[0].isStandby()));
                int active = supervisors[0].isActive() ? 0 : 1;
                SupervisedCluster.SupervisorJvm next = supervisors[1 - active];
                long began = System.nanoTime();
                if (isKilled) {
                    supervisors[active].process().destroyForcibly();
                } else {
                    supervisors[active].pause();
                }
                await("the next to be active")
                        .atMost(NEXT_SUPERVISOR)
                        .pollInterval(Duration.ofMillis(50))
                        .until(next::isActive);
                System.out.printf("another supervisor is active after %d ms%n", millisSince(began));
                if (isKilled) {
                    supervisors[active] = cluster.superviseApart();
                } else {
                    supervisors[active].resume();
                }
            }
        }
    }

    @Test
    void flapsPausesAndCutOffSupervisorsReplaceNothing() throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        System.out.println("understudy.seed=" + seed);
        Random random = new Random(seed);
        try (SupervisedCluster cluster = SupervisedCluster.foundWithFsync(folder, 5, 3, SHAPE);
                Writer writer = Writer.start(cluster.clientUrls())) {
            SupervisorProcess supervisor = cluster.supervise();
            await("the declared shape").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 1));
            Set<String> before = cluster.voters();
            List<Kept> faults = Stream.of(Kept.values())
                    .filter(each -> SlowDisk.isAvailable() || each != Kept.SLOW_SHARED_DISK)
                    .filter(each -> HAS_CLOCK_JUMPS || each != Kept.CLOCK_JUMP)
                    .toList();
            System.out.println("faults: " + faults);
            for (int schedule = 0; schedule < SCHEDULES; schedule++) {
                Kept fault = faults.get(schedule % faults.size());
                System.out.println("schedule " + schedule + ": " + fault);
                disturb(cluster, fault, random);
                await(fault + " to be over").atMost(PATIENCE).pollInterval(LOOK).until(() -> cluster.isOf(3, 1));
                assertThat(cluster.voters()).as("after %s", fault).isEqualTo(before);
            }
            assertThat(supervisor.state().events())
                    .extracting(event -> event.decision().rule())
                    .doesNotContain("standby-failover");
            assertThat(writer.lost()).isEmpty();
        }
    }

    private static void disturb(SupervisedCluster cluster, Kept fault, Random random) throws Exception {
        int one = random.nextInt(3);
        int other = (one + 1) % 3;
        switch (fault) {
            case FLAP -> {
                cluster.pause(one);
                during(random, DEAD.dividedBy(2));
                cluster.resume(one);
            }
            case SEVERAL_FLAP -> {
                cluster.pause(one);
                cluster.pause(other);
                during(random, DEAD.dividedBy(2));
                cluster.resume(one);
                cluster.resume(other);
            }
            case ALL_STALL -> {
                for (int member = 0; member < 3; member++) {
                    cluster.pause(member);
                }
                during(random, DEAD.dividedBy(2));
                for (int member = 0; member < 3; member++) {
                    cluster.resume(member);
                }
            }
            case SUPERVISOR_CUT_OFF -> {
                for (int member = 0; member < 5; member++) {
                    cluster.cutClients(member);
                }
                during(random, DEAD.multipliedBy(2));
                for (int member = 0; member < 5; member++) {
                    cluster.heal(member);
                }
            }
            case CLIENTS_CUT -> {
                cluster.cutClients(one);
                during(random, DEAD.multipliedBy(2));
                cluster.heal(one);
            }
            case SLOW_SHARED_DISK -> {
                for (int member = 0; member < 3; member++) {
                    cluster.delayFsyncs(member, SLOW_FSYNC);
                }
                during(random, DEAD.multipliedBy(2));
                for (int member = 0; member < 3; member++) {
                    cluster.heal(member);
                }
            }
            case CLOCK_JUMP -> {
                Duration jump = Duration.ofSeconds(random.nextInt(-MOST_JUMP_SECONDS, MOST_JUMP_SECONDS));
                setClock(Instant.now().plus(jump));
                try {
                    during(random, DEAD.multipliedBy(2));
                } finally {
                    setClock(Instant.now().minus(jump));
                }
            }
        }
    }

    private static void setClock(Instant time) throws IOException, InterruptedException {
        Process date = new ProcessBuilder("date", "--set=" + time).start();
        assertThat(date.waitFor()).as("the clock is set").isZero();
    }

    private static void during(Random random, Duration most) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(random.nextInt((int) most.toMillis()));
    }

    private static long millisSince(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos).toMillis();
    }
}
