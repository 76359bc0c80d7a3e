package io.understudy.mirror.takeover;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitHomeMoved;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.grpc.StatusRuntimeException;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The home moves between two real clusters while clients write, and nothing that was acknowledged is lost.
 *
 * <p>Tests invariant M37.
 */
@Tag("takeover")
final class HandoverIT {

    private static final EtcdSinkOptions SINK = EtcdSinkOptions.DEFAULTS.withProgressInterval(Duration.ofMillis(100));
    private static final HandoverOptions OPTIONS = HandoverOptions.DEFAULTS
            .within(Duration.ofSeconds(20), Duration.ofSeconds(20))
            .acceptingSilentWatchers();

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final List<AutoCloseable> open = new ArrayList<>();
    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private Parties parties;

    @BeforeEach
    void beginEmpty() {
        parties = new Parties(
                "dr",
                MirrorScope.all(),
                calls(CLUSTERS.source()),
                calls(CLUSTERS.target()),
                SINK,
                EtcdFeedOptions.DEFAULTS,
                true,
                MirrorSettings.Target.Etcd.ACTIVE_TTL);
        source.put("/a", "1");
        source.put("/b", "2");
    }

    @AfterEach
    void disconnect() throws Exception {
        source.thaw();
        target.thaw();
        for (AutoCloseable each : open) {
            each.close();
        }
    }

    @Test
    void tellsWhatWasDeletedAtTheFrozenSourceTooLateToBeRelayed() {
        assertThat(lossWhenDeletedAfterTheFence("/b"))
                .startsWith("possible: 1 commit ")
                .endsWith("nothing but deletes or expiries");
    }

    @Test
    void losesNothingByTheEndOfItsOwnKeysAtTheSource() {
        // As of a key that an earlier failback released with a lease.
        source.put("\0understudy/mirror/dr/active", "an earlier failback");
        assertThat(lossWhenDeletedAfterTheFence("\0understudy/mirror/dr/active"))
                .isEqualTo("none");
    }

    private String lossWhenDeletedAfterTheFence(String key) {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            return switchover(OPTIONS, new HandoverListener() {
                        @Override
                        public void ends(StepPlan step) {
                            if (step.name().equals("fence")) {
                                source.delete(key);
                            }
                        }
                    })
                    .run()
                    .loss();
        }
    }

    @Test
    @Tag("core")
    void movesTheHomeWhileClientsWriteAndLosesNothing() throws Exception {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            AtomicLong acknowledged = new AtomicLong();
            AtomicBoolean refused = new AtomicBoolean();
            Thread writer = new Thread(() -> write(acknowledged, refused));
            writer.start();
            await().until(() -> acknowledged.get() > 20);
            HandoverReport report = switchover(OPTIONS, HandoverListener.NONE).run();
            writer.join();

            assertThat(report.loss()).isEqualTo("none");
            assertThat(refused).isTrue();
            assertThat(target.contents()).isEqualTo(source.contents());
            assertThat(target.get(ByteString.copyFromUtf8("/counter"))
                            .getKvs(0)
                            .getValue()
                            .toStringUtf8())
                    .isEqualTo(String.valueOf(acknowledged.get()));
            awaitHomeMoved(mirror);
        }
        assertThat(switchover(OPTIONS, HandoverListener.NONE).run().loss()).isEqualTo("none");
    }

    @Test
    void relaysAndCountsDeletesWhileTheSourceIsFrozen() {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            HandoverReport report = switchover(OPTIONS, new HandoverListener() {
                        @Override
                        public void ends(StepPlan step) {
                            if (step.name().equals("freeze")) {
                                source.delete("/a");
                            }
                        }
                    })
                    .run();
            assertThat(report.loss()).isEqualTo("none");
            assertThat(report.facts().toString()).contains("1 commit by deletes and expiries");
            assertThat(target.contents()).hasSize(1);
        }
    }

    @Test
    void doesNotSayThatNothingWasLostAfterALateDelete() {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            HandoverReport report = switchover(OPTIONS, new HandoverListener() {
                        @Override
                        public void ends(StepPlan step) {
                            if (step.name().equals("fence")) {
                                source.delete("/a");
                            }
                        }
                    })
                    .run();
            assertThat(report.loss()).startsWith("possible: 1 commit ");
        }
    }

    @Test
    void saysNothingOfLossWhenTheSourceWasNotFrozen() {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            assertThat(switchover(OPTIONS.with(FreezeMode.NONE), HandoverListener.NONE)
                            .run()
                            .loss())
                    .startsWith("not known");
        }
    }

    /** Killed before and after each step's word in the journal, the next run completes. */
    static List<String> killed() {
        return Schedule.isLong()
                ? List.of("check", "freeze", "drain", "verify", "fence", "home", "release")
                : List.of("freeze", "fence", "home");
    }

    static List<String> undone() {
        return Schedule.isLong() ? List.of("check", "freeze", "drain", "verify", "fence") : List.of("freeze", "fence");
    }

    @ParameterizedTest
    @MethodSource("killed")
    void goesOnWhereItWasKilled(String step) {
        for (boolean journaled : new boolean[] {false, true}) {
            source.thaw();
            target.deleteAll();
            try (MirrorProcess mirror = mirror()) {
                awaitCaughtUp(mirror, source);
                assertThatThrownBy(() ->
                                switchover(OPTIONS, new Killed(step, journaled)).run())
                        .isInstanceOf(Killed.KilledException.class);
                assertThat(switchover(OPTIONS, HandoverListener.NONE).run().loss())
                        .isEqualTo("none");
                assertThat(target.contents()).isEqualTo(source.contents());
            }
        }
    }

    @ParameterizedTest
    @MethodSource("undone")
    void canBeUndoneUntilTheHomeHasMoved(String step) {
        MirrorProcess first = mirror();
        awaitCaughtUp(first, source);
        assertThatThrownBy(() -> switchover(OPTIONS, new Killed(step, true)).run())
                .isInstanceOf(Killed.KilledException.class);
        var unused = switchover(OPTIONS, HandoverListener.NONE).undo();
        source.put("/after", "undone");
        try (MirrorProcess mirror = first) {
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents());
            assertThat(switchover(OPTIONS, HandoverListener.NONE).run().loss()).isEqualTo("none");
        }
        assertThatThrownBy(() -> switchover(OPTIONS, HandoverListener.NONE).undo())
                .hasMessageContaining("use failback");
    }

    @Test
    void refusesATargetWhoseWatchersWouldHearNothing() {
        for (int i = 0; i < 50; i++) {
            source.put("/a", String.valueOf(i));
        }
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            HandoverOptions strict = HandoverOptions.DEFAULTS;
            while (target.revision() >= source.revision()) {
                source.put("/a", "more");
                source.put("/a", "again");
            }
            assertThatThrownBy(() -> switchover(strict, HandoverListener.NONE).run())
                    .hasMessageContaining("--accept-silent-watchers");
            source.put("/b", "still writable");
        }
    }

    @Test
    void refusesAFailoverWhileTheSourceAnswers() {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
        }
        assertThatThrownBy(() -> failover(OPTIONS).run()).hasMessageContaining("answers");
    }

    @Test
    void aFailoverThatWasRefusedKeepsNobodyFromASwitchover() {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            assertThatThrownBy(() -> failover(OPTIONS).run()).hasMessageContaining("answers");
            assertThat(switchover(OPTIONS, HandoverListener.NONE).run().loss()).isEqualTo("none");
        }
    }

    @Test
    @Tag("core")
    void aFailoverCanBeUndoneUntilTheHomeHasMoved() {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            assertThatThrownBy(() -> Handover.failover(parties, OPTIONS.forced(), new Killed("fence", true))
                            .run())
                    .isInstanceOf(Killed.KilledException.class);
            assertThatThrownBy(() -> switchover(OPTIONS, HandoverListener.NONE).run())
                    .hasMessageContaining("a failover")
                    .hasMessageContaining("--undo");
            assertThat(failover(OPTIONS).undo()).extracting(StepPlan::name).contains("fence");
            source.put("/after", "undone");
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents());
        }
    }

    @Test
    void undoingAFailoverUndoesTheSwitchoverBeforeIt() {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            assertThatThrownBy(
                            () -> switchover(OPTIONS, new Killed("fence", true)).run())
                    .isInstanceOf(Killed.KilledException.class);
            assertThatThrownBy(() -> Handover.failover(parties, OPTIONS.forced(), new Killed("check", true))
                            .run())
                    .isInstanceOf(Killed.KilledException.class);
            assertThat(failover(OPTIONS).undo()).extracting(StepPlan::name).contains("freeze");
            source.put("/after", "undone");
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"check", "verify", "fence"})
    void nobodyGoesOnOnceSomebodyElseHasBegunToUndo(String last) {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            HandoverListener undone = new HandoverListener() {
                @Override
                public void ends(StepPlan step) {
                    if (step.name().equals(last)) {
                        var unused = switchover(OPTIONS, HandoverListener.NONE).undo();
                    }
                }
            };
            assertThatThrownBy(() -> switchover(OPTIONS, undone).run())
                    .hasMessageContaining("another process is at work");
            source.put("/after", "undone");
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"verify", "fence"})
    void drainsAndComparesAgainWhereTheFreezeWasLiftedMeanwhile(String step) {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            assertThatThrownBy(() -> switchover(OPTIONS, new Killed(step, true)).run())
                    .isInstanceOf(Killed.KilledException.class);
            source.thaw();
            source.put("/meanwhile", "acknowledged");
            assertThat(switchover(OPTIONS, HandoverListener.NONE).run().loss()).isEqualTo("none");
            assertThat(target.contents()).isEqualTo(source.contents()).hasSize(3);
        }
    }

    @Test
    void endsWithoutTheSourceWhatHadMovedTheHomeBeforeThatWasLost() {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            assertThatThrownBy(
                            () -> switchover(OPTIONS, new Killed("home", false)).run())
                    .isInstanceOf(Killed.KilledException.class);
            // Else the cluster would not be found healthy when it is mended.
            source.thaw();
            CLUSTERS.source().leader().kill();
            HandoverOptions impatient = OPTIONS.within(Duration.ofSeconds(1), Duration.ofSeconds(1));
            assertThat(failover(impatient).run().loss()).startsWith("not known");
            assertThatThrownBy(() -> failover(impatient).run()).hasMessageContaining("nothing to fail over");
        } finally {
            CLUSTERS.source().mend();
        }
    }

    @Test
    void goesOnWithASwitchoverAfterAFailoverWasRefusedInItsMidst() {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            assertThatThrownBy(() ->
                            switchover(OPTIONS, new Killed("freeze", true)).run())
                    .isInstanceOf(Killed.KilledException.class);
            assertThatThrownBy(() -> failover(OPTIONS).run()).hasMessageContaining("answers");
            assertThat(switchover(OPTIONS, HandoverListener.NONE).run().loss()).isEqualTo("none");
        }
    }

    @Test
    @Tag("core")
    void failsOverWithoutTheSourceAndTellsUpToWhere() {
        try (MirrorProcess mirror = mirror()) {
            awaitCaughtUp(mirror, source);
            long revision = source.put("/last", "1");
            awaitCaughtUp(mirror, source);
            CLUSTERS.source().leader().kill();
            HandoverReport report = failover(OPTIONS).run();
            assertThat(report.loss()).startsWith("possible, everything after revision " + revision + " of 20");
            assertThat(target.contents()).hasSize(3);
        } finally {
            CLUSTERS.source().mend();
        }
    }

    private void write(AtomicLong acknowledged, AtomicBoolean refused) {
        try {
            while (true) {
                long next = acknowledged.get() + 1;
                source.put("/counter", String.valueOf(next));
                acknowledged.set(next);
            }
        } catch (StatusRuntimeException e) {
            refused.set(e.getMessage().contains("database space exceeded"));
        }
    }

    private Handover switchover(HandoverOptions options, HandoverListener listener) {
        return Handover.switchover(parties, options, listener);
    }

    private Handover failover(HandoverOptions options) {
        return Handover.failover(parties, options, HandoverListener.NONE);
    }

    private MirrorProcess mirror() {
        return CLUSTERS.mirror(MirrorScope.all(), SINK);
    }

    private PatientCalls calls(LocalEtcd cluster) {
        return new PatientCalls(
                opened(EtcdCluster.connect(Mirrors.settings(cluster), meters)), null, Duration.ofSeconds(20));
    }

    private <T extends AutoCloseable> T opened(T what) {
        open.add(what);
        return what;
    }
}
