package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.grpc.StatusRuntimeException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.MirrorJvm;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.fixture.Workload;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Whatever happens to the mirror or to its target while commits flow, in the end the target equals the source.
 *
 * <p>Tests invariants M5, M7.
 */
final class EtcdMirrorFaultIT {

    private static final ByteString CHECKPOINT = ByteString.copyFromUtf8("\0understudy/mirror/dr/checkpoint");

    private static final ByteString ACTIVE = ByteString.copyFromUtf8("\0understudy/mirror/dr/active");

    private static final int KILLS = Schedule.isLong() ? 50 : 3;

    private static final int FLAPS = Schedule.isLong() ? 100 : 10;

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.of(
            EtcdExtension.voters(1), EtcdExtension.voters(3).with(builder -> builder.behindProxies()));

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();

    /** What happens to the target's leader, and how it ends. */
    private record Fault(String name, Consumer<EtcdMember> begin, Consumer<EtcdMember> end) {
        @Override
        public String toString() {
            return name;
        }
    }

    static Stream<Fault> faults() {
        Consumer<EtcdMember> heal = member -> member.clientProxy().heal();
        return Stream.of(
                new Fault("killed", EtcdMember::kill, EtcdMember::launch),
                new Fault("paused", EtcdMember::pause, EtcdMember::resume),
                new Fault("cut", member -> member.clientProxy().cut(), heal),
                new Fault("black-holed", member -> member.clientProxy().blackHole(), heal),
                new Fault("half-open", member -> member.clientProxy().halfOpen(), heal));
    }

    @ParameterizedTest
    @MethodSource("faults")
    void resumesAtAnotherMemberAfterAFaultOfTheTargetsLeader(Fault fault) {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Workload workload = new Workload(source, seed);
        EtcdSettings impatient = Mirrors.impatient(CLUSTERS.target());
        try (MirrorProcess mirror = Mirrors.etcd(
                Mirrors.settings(CLUSTERS.source()), impatient, MirrorScope.all(), EtcdSinkOptions.DEFAULTS)) {
            workload.steps(50);
            awaitCaughtUp(mirror, source);
            EtcdMember leader = CLUSTERS.target().leader();
            fault.begin().accept(leader);
            workload.steps(50);
            awaitCaughtUp(mirror, source);
            fault.end().accept(leader);
            workload.steps(50);
            awaitCaughtUp(mirror, source);
        }
        assertEqual(seed);
    }

    /** Answers are lost again and again; still each commit is written once. */
    @Test
    void writesEachCommitOnceDespiteBrokenConnections() {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Workload workload = new Workload(source, seed);
        try (MirrorProcess mirror = CLUSTERS.mirror(
                MirrorScope.all(), EtcdSinkOptions.DEFAULTS.withProgressInterval(Duration.ofMinutes(1)))) {
            awaitCaughtUp(mirror, source);
            // The checkpoint may still move past the mirror's own record at the source; a commit after that ends it.
            source.put("/a", "last before counting");
            awaitCaughtUp(mirror, source);
            MirrorReport before = mirror.reports().get(0);
            long written = timesWritten();
            for (int round = 0; round < 20; round++) {
                workload.steps(20);
                CLUSTERS.target().members().forEach(member -> member.clientProxy()
                        .cut());
                CLUSTERS.target().members().forEach(member -> member.clientProxy()
                        .heal());
            }
            awaitCaughtUp(mirror, source);
            MirrorReport after = mirror.reports().get(0);
            assertThat(timesWritten() - written)
                    .as("transactions in the target, seed %d, %s", seed, after)
                    .isEqualTo(after.transactions() - before.transactions());
            assertThat(after.completeRevision()).isGreaterThan(before.completeRevision());
        }
        assertEqual(seed);
    }

    @Test
    void retriesAndReportsItWhileTheTargetIsUnreachable() {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Workload workload = new Workload(source, seed);
        workload.steps(20);
        CLUSTERS.target().members().forEach(EtcdMember::kill);
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(mirror.reports().get(0).state()).isEqualTo(MirrorState.RETRYING));
            assertThat(mirror.reports().get(0).lastError()).contains("UNAVAILABLE");
            assertThat(mirror.failure()).isNotDone();
            CLUSTERS.target().mend();
            awaitCaughtUp(mirror, source);
        }
        assertEqual(seed);
    }

    @Test
    void retriesWhileTheTargetRejectsPutsButAnswersReads() {
        source.put("/a", "1");
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            awaitCaughtUp(mirror, source);
            target.freeze();
            try {
                source.put("/a", "2");
                await().atMost(PATIENCE)
                        .untilAsserted(() ->
                                assertThat(mirror.reports().get(0).lastError()).contains("etcdctl alarm disarm"));
                await().atMost(PATIENCE)
                        .during(Duration.ofSeconds(2))
                        .until(() -> mirror.reports().get(0).state() == MirrorState.RETRYING);
            } finally {
                target.thaw();
            }
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents());
        }
    }

    @Test
    @Tag("schedules")
    void survivesKillsOfItsProcessAtAnyMoment(@TempDir Path folder) {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Random random = new Random(seed);
        Workload workload = new Workload(source, seed);
        workload.steps(200);
        try (MirrorJvm mirror = MirrorJvm.etcd(folder, CLUSTERS.source(), CLUSTERS.target())) {
            for (int kill = 0; kill < KILLS; kill++) {
                mirror.start();
                long until = revision() + random.nextInt(1, 30);
                await().atMost(PATIENCE)
                        .pollDelay(Duration.ZERO)
                        .pollInterval(Duration.ofMillis(5))
                        // A busy machine lets a cluster elect another leader.
                        .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
                        .until(() -> {
                            workload.step();
                            return revision() >= until;
                        });
                mirror.kill();
                // As if its lease had run out; what it still has on its way is fenced off all the same.
                target.delete(ACTIVE.toStringUtf8());
            }
        }
        workload.steps(50);
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            awaitCaughtUp(mirror, source);
        }
        assertEqual(seed);
    }

    /** Deleted or revoked, the key is back at once; while the target is paused, the process must give its role up. */
    @Test
    @Tag("schedules")
    void survivesFlapsOfItsActiveRole() {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Random random = new Random(seed);
        Workload workload = new Workload(source, seed);
        try (MirrorProcess mirror = CLUSTERS.mirror()) {
            awaitCaughtUp(mirror, source);
            for (int flap = 0; flap < FLAPS; flap++) {
                workload.steps(random.nextInt(1, 30));
                KeyValue before = target.get(ACTIVE).getKvs(0);
                switch (random.nextInt(10)) {
                    case 0 -> {
                        CLUSTERS.target().members().forEach(EtcdMember::pause);
                        await().atMost(PATIENCE)
                                .until(() -> mirror.reports().get(0).state() != MirrorState.SYNCED);
                        CLUSTERS.target().members().forEach(EtcdMember::resume);
                    }
                    case 1, 2, 3, 4 -> target.revoke(before.getLease());
                    default -> target.delete(ACTIVE.toStringUtf8());
                }
                workload.steps(random.nextInt(1, 30));
                await().atMost(PATIENCE)
                        .ignoreExceptionsInstanceOf(StatusRuntimeException.class)
                        .until(() -> target.get(ACTIVE).getKvsCount() == 1);
                assertThat(mirror.failure()).as("seed %d, flap %d", seed, flap).isNotDone();
            }
            awaitCaughtUp(mirror, source);
        }
        assertEqual(seed);
    }

    @Test
    void aWriterTakingOverWithoutTheRoleFencesTheActiveOne() throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        Workload workload = new Workload(source, seed);
        try (MirrorProcess first = CLUSTERS.mirror();
                EtcdCluster cluster =
                        EtcdCluster.connect(Mirrors.settings(CLUSTERS.target()), new SimpleMeterRegistry())) {
            workload.steps(20);
            awaitCaughtUp(first, source);
            Mirrors.takeOver(cluster, "dr");
            long taken = target.get(CHECKPOINT).getKvs(0).getModRevision();
            workload.steps(20);
            assertThat(awaitFailure(first))
                    .hasMessageContaining("fenced")
                    .hasMessageContaining("epoch 2")
                    .hasMessageContaining("Two mirrors with the same name are running");
            assertThat(first.reports().get(0).state()).isEqualTo(MirrorState.FAILED);
            await().atMost(PATIENCE).until(() -> target.get(ACTIVE).getKvsCount() == 0);
            assertThat(target.get(CHECKPOINT).getKvs(0).getModRevision()).isEqualTo(taken);
        }
        try (MirrorProcess next = CLUSTERS.mirror()) {
            awaitCaughtUp(next, source);
        }
        assertEqual(seed);
    }

    private void assertEqual(long seed) {
        try (TestClient now = TestClient.of(CLUSTERS.target().leader())) {
            assertThat(now.contents()).as("seed %d", seed).isEqualTo(source.contents());
        }
    }

    /** The target's revision. */
    private long revision() {
        return target.get(CHECKPOINT).getHeader().getRevision();
    }

    /** Each transaction writes the checkpoint. Revisions are made by the active process' lease as well, when that runs out. */
    private long timesWritten() {
        return target.get(CHECKPOINT).getKvs(0).getVersion();
    }
}
