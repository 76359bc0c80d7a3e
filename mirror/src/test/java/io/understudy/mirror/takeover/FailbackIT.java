package io.understudy.mirror.takeover;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static io.understudy.mirror.fixture.Mirrors.awaitHomeMoved;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.revisions.CheckpointHistory;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.mirror.revisions.Translation.ListAgain;
import io.understudy.mirror.revisions.Translation.ResumeAt;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The drill: the home moves to the target and back, clients write on either side, and the mirror goes on. */
final class FailbackIT {

    private static final HandoverOptions OPTIONS = HandoverOptions.DEFAULTS
            .within(Duration.ofSeconds(30), Duration.ofSeconds(20))
            .acceptingSilentWatchers();

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private MirrorSettings.Mirror settings;
    private MirrorParties clusters;

    @BeforeEach
    void beginEmpty() {
        settings = settings(100);
        clusters = new MirrorParties(settings, null, null, OPTIONS.patience());
        source.put("/a", "1");
        source.put("/b", "2");
    }

    @AfterEach
    void disconnect() {
        clusters.close();
        source.thaw();
        target.thaw();
    }

    @Test
    void bringsTheHomeBackWithWhatWasWrittenMeanwhileAndTheMirrorGoesOn() throws Exception {
        switchOver();
        target.put("/c", "written at the new home");
        target.delete("/a");
        assertThat(failback(HandoverListener.NONE).survey().keys()).isZero();
        assertThat(failback(HandoverListener.NONE).run().loss()).isEqualTo("none");
        assertEqualAndMirrored();
        assertThat(source.contents()).hasSize(3);
        assertThatThrownBy(() -> failback(HandoverListener.NONE).survey()).hasMessageContaining("nothing to fail back");

        // And once more, since all of it leaves traces.
        switchOver();
        target.put("/d", "again");
        assertThat(failback(HandoverListener.NONE).run().loss()).isEqualTo("none");
        assertEqualAndMirrored();
    }

    @Test
    void aMirrorWaitsWhileTheHomeIsItsTargetAndGoesOnAfterwards() {
        switchOver();
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitHomeMoved(mirror);
            target.put("/c", "written at the new home");
            assertThat(failback(HandoverListener.NONE).run().loss()).isEqualTo("none");
            source.put("/d", "written at the old home, which is the new one");
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents()).hasSize(4);
        }
    }

    @Test
    void showsWhatTheOldSourceWroteAfterAFailoverBeforeThatIsLost() {
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(Handover.failover(clusters.forward(), OPTIONS.forced(), HandoverListener.NONE)
                        .run()
                        .loss())
                .startsWith("possible, everything after revision");
        source.put("/late", "never mirrored");
        target.put("/c", "3");
        Survey survey = failback(HandoverListener.NONE).survey();
        assertThat(survey.first()).containsExactly("\"/late\"");
        assertThat(failback(HandoverListener.NONE).run().loss())
                .startsWith("1 key as the old source had them")
                .endsWith("such as \"/late\"; nothing else");
        assertEqualAndMirrored();
        assertThat(source.contents()).hasSize(4);
    }

    @Test
    void tellsWhatTheOldSourceDeletedOrWroteAfterTheThaw_alsoOnceItIsOverwritten() {
        failOver();
        source.delete("/a");
        assertThat(failback(HandoverListener.NONE).survey().first()).containsExactly("\"/a\"");
        HandoverListener stray = new HandoverListener() {
            @Override
            public void ends(StepPlan step) {
                if (step.name().equals("thaw")) {
                    source.put("/b", "by a client that knows of no failover");
                }
                if (step.name().equals("release")) {
                    throw new Killed.KilledException();
                }
            }
        };
        assertThatThrownBy(() -> failback(stray).run()).isInstanceOf(Killed.KilledException.class);
        assertThat(source.contents()).isEqualTo(target.contents()).hasSize(2);

        assertThat(failback(HandoverListener.NONE).run().loss())
                .startsWith("2 keys as the old source had them, written or deleted there since revision")
                .contains("\"/a\"", "\"/b\"");
        assertEqualAndMirrored();
    }

    @Test
    void tellsWhatIsLostAlsoIfItWasKilledWhenThatWasTold() {
        failOver();
        source.put("/late", "never mirrored");
        HandoverListener killed = new HandoverListener() {
            @Override
            public void begins(StepPlan step) {
                if (step.name().equals("finish")) {
                    throw new Killed.KilledException();
                }
            }
        };
        assertThatThrownBy(() -> failback(killed).run()).isInstanceOf(Killed.KilledException.class);
        assertThat(failback(HandoverListener.NONE).run().loss()).contains("/late");
        assertEqualAndMirrored();
    }

    @Test
    void tellsOfDeletesAtTheNewHomeThatCameTooLate_andTheMirrorGoesOn() {
        switchOver();
        target.put("/c", "3");
        assertThatThrownBy(() -> failback(new Killed("release", true)).run())
                .isInstanceOf(Killed.KilledException.class);
        target.delete("/c");
        assertThat(failback(HandoverListener.NONE).run().loss()).contains("1 commit of the new home after revision");
        assertThat(source.contents()).hasSize(3);
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void theMirrorGoesOnWhateverIsDeletedOnceTheHomeIsBack() {
        settings = settings(10);
        switchOver();
        failback(HandoverListener.NONE).run();
        source.delete("/a");
        source.delete("/b");
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).isEmpty();
        assertThat(target.get(ReservedKeys.compared("dr")).getKvsList())
                .as("the next synchronisation has a limit")
                .isEmpty();
    }

    @Test
    void whatWasPutInTheTargetSinceIsHeldToTheLimit_thoughNotWhatTheSourceHasDeleted() throws Exception {
        settings = settings(10);
        switchOver();
        failback(HandoverListener.NONE).run();
        IntStream.range(0, 5).forEach(i -> target.put("/stray/" + i, "by a client that still writes there"));
        source.delete("/a");
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("would delete 5 of the 7 keys")
                    .hasMessageContaining("\"/stray/0\"")
                    .hasMessageContaining("written in the target after the failback");
        }
        assertThat(target.contents()).as("the strays and /b").hasSize(6);
    }

    @Test
    void saysWhatMayComeWhereItHadLiftedTheFreezeBeforeItWasKilled() {
        switchOver();
        target.put("/c", "3");
        assertThatThrownBy(() -> failback(new Killed("release", true)).run())
                .isInstanceOf(Killed.KilledException.class);
        target.thaw();
        assertThat(failback(HandoverListener.NONE).run().loss())
                .contains("Since then the freeze of the new home was lifted: what came before that was not counted");
        assertEqualAndMirrored();
    }

    @Test
    void takesNothingForLostThatTheNewHomeHasToo() {
        failOver();
        source.put("/c", "on both sides");
        target.put("/c", "on both sides");
        source.delete("/a");
        target.delete("/a");
        assertThat(failback(HandoverListener.NONE).survey().lost()).isEmpty();
        assertThat(failback(HandoverListener.NONE).run().loss()).isEqualTo("none");
    }

    @Test
    void mirrorsWhatTheOldSourceIsWrittenBetweenTheComparisonAndTheMove() {
        switchOver();
        HandoverListener early = new HandoverListener() {
            @Override
            public void ends(StepPlan step) {
                if (step.name().equals("verify")) {
                    source.put("/early", "by a client that comes back too early");
                }
            }
        };
        assertThat(failback(early).run().loss()).isEqualTo("none");
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents()).hasSize(3);
    }

    @Test
    void goesOnWhereItWasKilledIfNothingIsFrozen() {
        switchOver();
        target.put("/c", "3");
        HandoverOptions none = OPTIONS.with(FreezeMode.NONE);
        assertThatThrownBy(() -> new Failback(
                                clusters, none, Duration.ofSeconds(60), new Killed("home", true), report -> {})
                        .run())
                .isInstanceOf(Killed.KilledException.class);
        assertThat(new Failback(clusters, none, Duration.ofSeconds(60), HandoverListener.NONE, report -> {})
                        .run()
                        .loss())
                .startsWith("not known: the new home was not frozen");
        assertEqualAndMirrored();
    }

    @Test
    void whoHadSeenRevisionsOfTheSourceMissesNothingOfWhatTheTargetWasTheHomeOf() throws Exception {
        switchOver();
        Revision moved = TargetCheckpoint.read(clusters.forward().target(), "dr")
                .checkpoint()
                .revision();
        long first = target.put("/c", "3");
        target.put("/d", "4");
        RevisionMap map = new RevisionMap(
                new CheckpointHistory("dr", clusters.forward().target().cluster()));
        assertThat(map.translate(moved))
                .isInstanceOfSatisfying(
                        ResumeAt.class, at -> assertThat(at.start().value()).isLessThanOrEqualTo(first));

        failback(HandoverListener.NONE).run();
        assertEqualAndMirrored();
        assertThat(map.translate(moved))
                .isInstanceOfSatisfying(
                        ResumeAt.class, at -> assertThat(at.start().value()).isLessThanOrEqualTo(first));
        assertThat(map.translate(moved.next()))
                .as("it may have seen what was lost")
                .isInstanceOf(ListAgain.class);
        assertThat(map.translate(new Revision(source.revision()))).isInstanceOf(ResumeAt.class);
    }

    @Test
    void liftsTheFreezeOfASwitchoverInWhoseMidstTheSourceWasLost() {
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
            assertThatThrownBy(() -> switchover(new Killed("freeze", true)).run())
                    .isInstanceOf(Killed.KilledException.class);
        }
        HandoverReport report = Handover.failover(clusters.forward(), OPTIONS.forced(), HandoverListener.NONE)
                .run();
        assertThat(report.next().toString()).contains("the source may still be frozen");
        target.put("/c", "written at the new home");
        assertThat(failback(HandoverListener.NONE).run().loss()).isEqualTo("none");
        assertEqualAndMirrored();
    }

    @Test
    void runAgainItPutsRightWhatTheOldSourceWasWrittenMeanwhile() {
        switchOver();
        target.put("/c", "written at the new home");
        HandoverListener stray = new HandoverListener() {
            @Override
            public void ends(StepPlan step) {
                if (step.name().equals("drain")) {
                    source.put("/stray", "by a client that knows of no switchover");
                }
            }
        };
        assertThatThrownBy(() -> failback(stray).run()).hasMessageContaining("/stray");

        assertThat(failback(HandoverListener.NONE).survey().first()).containsExactly("\"/stray\"");
        assertThat(failback(HandoverListener.NONE).run().loss()).contains("/stray");
        assertEqualAndMirrored();
        assertThat(source.contents()).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"verify", "fence"})
    void comparesAgainWhatWasWrittenAfterItWasKilledThoughThatWasComparedBefore(String step) {
        switchOver();
        assertThatThrownBy(() -> failback(new Killed(step, true)).run()).isInstanceOf(Killed.KilledException.class);
        source.put("/stray", "by a client that knows of no switchover");
        assertThat(failback(HandoverListener.NONE).run().loss()).contains("/stray");
        assertEqualAndMirrored();
        assertThat(source.contents()).hasSize(3);
    }

    static List<String> killed() {
        return Schedule.isLong() ? List.of("freeze", "verify", "fence", "home", "release") : List.of("freeze", "home");
    }

    @ParameterizedTest
    @MethodSource("killed")
    void goesOnWhereItWasKilled(String step) {
        switchOver();
        target.put("/c", "3");
        assertThatThrownBy(() -> failback(new Killed(step, true)).run()).isInstanceOf(Killed.KilledException.class);
        assertThat(failback(HandoverListener.NONE).run().loss()).isEqualTo("none");
        assertEqualAndMirrored();
    }

    @Test
    void theNextSwitchoverBeginsAnewAfterOneThatWasKilledOnceItHadMovedTheHome() {
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
            assertThatThrownBy(() -> switchover(new Killed("home", false)).run())
                    .isInstanceOf(Killed.KilledException.class);
        }
        assertThat(failback(HandoverListener.NONE).run().loss()).isEqualTo("none");
        List<String> begun = new ArrayList<>();
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
            HandoverListener listener = new HandoverListener() {
                @Override
                public void begins(StepPlan step) {
                    begun.add(step.name());
                }
            };
            assertThat(switchover(listener).run().loss()).isEqualTo("none");
        }
        assertThat(begun).contains("check", "freeze", "drain", "verify", "fence", "home", "release");
    }

    private static MirrorSettings.Mirror settings(int maxPrunePercent) {
        return new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                MirrorScope.all(),
                MirrorSettings.Target.Etcd.of(
                        Mirrors.settings(CLUSTERS.target()),
                        EtcdSinkOptions.DEFAULTS
                                .withProgressInterval(Duration.ofMillis(100))
                                .withMaxPrunePercent(maxPrunePercent)));
    }

    private Handover switchover(HandoverListener listener) {
        return Handover.switchover(clusters.forward(), OPTIONS, listener);
    }

    private void switchOver() {
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
            assertThat(switchover(HandoverListener.NONE).run().loss()).isEqualTo("none");
        }
    }

    private void failOver() {
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
        }
        Handover.failover(clusters.forward(), OPTIONS.forced(), HandoverListener.NONE)
                .run();
    }

    private Failback failback(HandoverListener listener) {
        return new Failback(clusters, OPTIONS, Duration.ofSeconds(60), listener, report -> {});
    }

    private void assertEqualAndMirrored() {
        assertThat(target.contents()).isEqualTo(source.contents());
        long before = target.revision();
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCaughtUp(mirror, source);
            source.put("/mirrored", "again " + before);
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents());
        }
        assertThat(target.writtenSince(before))
                .as("only the last put was mirrored")
                .isEqualTo(1);
    }
}
