package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.etcd.ReadIndex;
import io.understudy.gateway.read.ReadSource.ReadIndexSource;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Linearizable reads and sessions while members and links fail. The short schedule has a fault of each kind, the long one
 * ({@code -Dunderstudy.schedule=long}) many of all.
 *
 * <p>Tests invariants C1, C2.
 */
@Timeout(1_800)
@Tag("schedules")
@Tag("verify")
final class LinearizabilityIT {

    private static final Logger LOG = LoggerFactory.getLogger(LinearizabilityIT.class);
    private static final boolean LONG = "long".equals(System.getProperty("understudy.schedule"));
    private static final int READS_PER_FAULT = LONG ? 5_000 : 500;
    private static final int REPETITIONS = LONG ? 10 : 1;

    @RegisterExtension
    static final EtcdExtension SOURCE =
            EtcdExtension.voters(3).learners(1).named("source").behindProxies();

    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final Random random = new Random(seed);

    /** What is broken; mending is always the same. */
    private record Fault(String name, Runnable begin) {}

    @Test
    void readsStayLinearizableAndSessionsMonotonicUnderFailures() throws Exception {
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            try (ReadHistory history = history(fixture)) {
                for (Fault fault : schedule()) {
                    int before = history.reads();
                    int linearizableBefore = history.linearizable.get();
                    fault.begin().run();
                    await(fault.name() + ", seed " + seed)
                            .atMost(Duration.ofMinutes(2))
                            .until(() -> history.reads() >= before + READS_PER_FAULT || !history.violations.isEmpty());
                    SOURCE.heal();
                    // Recovery is automatic.
                    await(fault.name() + " mended, seed " + seed)
                            .atMost(Duration.ofMinutes(1))
                            .until(() -> history.linearizable.get() > linearizableBefore + READS_PER_FAULT / 2);
                    LOG.info("{}: {}", fault.name(), history);
                    assertThat(history.violations)
                            .as("%s, seed %d, %s", fault.name(), seed, history)
                            .isEmpty();
                }
            }
        }
    }

    @Test
    void theCheckerDetectsReadsByAnOutdatedReadIndex() throws Exception {
        // What is acknowledged to writers comes to the gateway only later.
        SOURCE.cluster().voters().forEach(member -> member.clientProxy().delay(Duration.ofMillis(20)));
        UnaryOperator<ReadIndexSource> stale = StaleIndexes::new;
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()), stale)) {
            fixture.awaitReady();
            try (ReadHistory history = history(fixture)) {
                await().atMost(Duration.ofMinutes(1)).until(() -> !history.violations.isEmpty());
                assertThat(history.violations)
                        .first()
                        .asString()
                        .startsWith("linearizable")
                        .contains("acknowledged");
            }
        }
    }

    /** Breaks linearizability: answers at once, with what was confirmed last, though that was sent before. */
    private static final class StaleIndexes implements ReadIndexSource {
        private final ReadIndexSource honest;
        private volatile CompletableFuture<ReadIndex> last;

        StaleIndexes(ReadIndexSource honest) {
            this.honest = honest;
        }

        @Override
        public CompletableFuture<ReadIndex> readIndex(Duration deadline) {
            CompletableFuture<ReadIndex> next = honest.readIndex(deadline).whenComplete((index, failure) -> {
                if (index != null) {
                    last = CompletableFuture.completedFuture(index);
                }
            });
            return last == null ? next : last;
        }
    }

    private ReadHistory history(GatewayFixture fixture) {
        List<URI> voters = SOURCE.cluster().voters().stream()
                .map(EtcdMember::directClientUrl)
                .toList();
        return new ReadHistory(voters, fixture.gateway.apiPort(), seed);
    }

    private List<Fault> schedule() {
        List<Fault> schedule = new ArrayList<>();
        for (int i = 0; i < REPETITIONS; i++) {
            for (List<Fault> kind : kinds()) {
                if (LONG) {
                    schedule.addAll(kind);
                } else {
                    schedule.add(kind.get(random.nextInt(kind.size())));
                }
            }
        }
        Collections.shuffle(schedule, random);
        return schedule;
    }

    private List<List<Fault>> kinds() {
        LocalEtcd cluster = SOURCE.cluster();
        EtcdMember learner = cluster.learners().get(0);
        return List.of(
                List.of(new Fault("leader killed", () -> cluster.leader().kill())),
                List.of(
                        new Fault("leader paused", () -> cluster.leader().pause()),
                        new Fault("follower paused", () -> follower().pause()),
                        new Fault("learner paused", learner::pause),
                        new Fault("learner killed", learner::kill)),
                List.of(
                        new Fault(
                                "gateway cut off from the leader",
                                () -> cluster.leader().clientProxy().cut()),
                        new Fault(
                                "gateway black-holed from a follower",
                                () -> follower().clientProxy().blackHole()),
                        new Fault("gateway black-holed from the learner", () -> learner.clientProxy()
                                .blackHole()),
                        new Fault("gateway far away", () -> cluster.members()
                                .forEach(member -> member.clientProxy().delay(Duration.ofMillis(10))))),
                List.of(
                        new Fault("leader isolated", () -> cluster.isolate(cluster.leader())),
                        new Fault("follower isolated", () -> cluster.isolate(follower())),
                        new Fault("learner isolated", () -> cluster.isolate(learner)),
                        new Fault("learner and follower parted from the rest", () -> {
                            EtcdMember one = follower();
                            Set<EtcdMember> others = Set.copyOf(cluster.voters().stream()
                                    .filter(member -> member != one)
                                    .toList());
                            cluster.partition(Set.of(learner, one), others);
                        })));
    }

    private EtcdMember follower() {
        List<EtcdMember> followers = SOURCE.cluster().followers();
        return followers.get(random.nextInt(followers.size()));
    }
}
