package io.understudy.mirror.takeover;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static io.understudy.mirror.fixture.Mirrors.awaitHomeMoved;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.Schedule;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.revisions.CheckpointHistory;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.mirror.revisions.Translation.ListAgain;
import io.understudy.mirror.revisions.Translation.ResumeAt;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The drill: the home moves to the target and back, clients write on either side, and the mirror goes on.
 *
 * <p>Tests invariant M40.
 */
@Tag("takeover")
final class FailbackIT {

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private Drill drill;

    @BeforeEach
    void beginEmpty() {
        drill = Drill.of(CLUSTERS, 100);
        source.put("/a", "1");
        source.put("/b", "2");
    }

    @AfterEach
    void disconnect() {
        drill.close();
    }

    @Test
    @Tag("core")
    void bringsTheHomeBackWithWhatWasWrittenMeanwhileAndTheMirrorGoesOn() throws Exception {
        drill.switchOver();
        target.put("/c", "written at the new home");
        target.delete("/a");
        assertThat(drill.failback().survey().keys()).isZero();
        assertThat(drill.failback().run().loss()).isEqualTo("none");
        drill.assertEqualAndMirrored();
        assertThat(source.contents()).hasSize(3);
        assertThatThrownBy(() -> drill.failback().survey()).hasMessageContaining("nothing to fail back");

        // And once more, since all of it leaves traces.
        drill.switchOver();
        target.put("/d", "again");
        assertThat(drill.failback().run().loss()).isEqualTo("none");
        drill.assertEqualAndMirrored();
    }

    @Test
    void aMirrorWaitsWhileTheHomeIsItsTargetAndGoesOnAfterwards() {
        drill.switchOver();
        try (MirrorProcess mirror = Mirrors.start(drill.settings())) {
            awaitHomeMoved(mirror);
            target.put("/c", "written at the new home");
            assertThat(drill.failback().run().loss()).isEqualTo("none");
            source.put("/d", "written at the old home, which is the new one");
            awaitCaughtUp(mirror, source);
            assertThat(target.contents()).isEqualTo(source.contents()).hasSize(4);
        }
    }

    @Test
    void showsWhatTheOldSourceWroteAfterAFailoverBeforeThatIsLost() {
        try (MirrorProcess mirror = Mirrors.start(drill.settings())) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(drill.failover(Drill.OPTIONS.forced()).run().loss())
                .startsWith("possible, everything after revision");
        source.put("/late", "never mirrored");
        target.put("/c", "3");
        Survey survey = drill.failback().survey();
        assertThat(survey.first()).containsExactly("\"/late\"");
        assertThat(drill.failback().run().loss())
                .startsWith("1 key as the old source had them")
                .endsWith("such as \"/late\"; nothing else");
        drill.assertEqualAndMirrored();
        assertThat(source.contents()).hasSize(4);
    }

    @Test
    void theMirrorGoesOnWhateverIsDeletedOnceTheHomeIsBack() {
        drill.close();
        drill = Drill.of(CLUSTERS, 10);
        drill.switchOver();
        drill.failback().run();
        source.delete("/a");
        source.delete("/b");
        try (MirrorProcess mirror = Mirrors.start(drill.settings())) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).isEmpty();
        assertThat(target.get(ReservedKeys.compared("dr")).getKvsList())
                .as("the next synchronisation has a limit")
                .isEmpty();
    }

    @Test
    void whatWasPutInTheTargetSinceIsHeldToTheLimit_thoughNotWhatTheSourceHasDeleted() throws Exception {
        drill.close();
        drill = Drill.of(CLUSTERS, 10);
        drill.switchOver();
        drill.failback().run();
        IntStream.range(0, 5).forEach(i -> target.put("/stray/" + i, "by a client that still writes there"));
        source.delete("/a");
        try (MirrorProcess mirror = Mirrors.start(drill.settings())) {
            assertThat(awaitFailure(mirror))
                    .hasMessageContaining("would delete 5 of 7 keys")
                    .hasMessageContaining("\"/stray/0\"")
                    .hasMessageContaining("written to the target after the comparison of the failback");
        }
        assertThat(target.contents()).as("the strays and /b").hasSize(6);
    }

    @Test
    void mirrorsWhatTheOldSourceIsWrittenBetweenTheComparisonAndTheMove() {
        drill.switchOver();
        HandoverListener early = new HandoverListener() {
            @Override
            public void ends(StepPlan step) {
                if (step.name().equals("verify")) {
                    source.put("/early", "by a client that comes back too early");
                }
            }
        };
        assertThat(drill.failback(early).run().loss()).isEqualTo("none");
        try (MirrorProcess mirror = Mirrors.start(drill.settings())) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents()).hasSize(3);
    }

    @Test
    void goesOnWhereItWasKilledIfNothingIsFrozen() {
        drill.switchOver();
        target.put("/c", "3");
        HandoverOptions none = Drill.OPTIONS.with(FreezeMode.NONE);
        assertThatThrownBy(() -> drill.failback(none, new Killed("home", true)).run())
                .isInstanceOf(Killed.KilledException.class);
        assertThat(drill.failback(none, HandoverListener.NONE).run().loss())
                .startsWith("not known: the new home was not frozen");
        drill.assertEqualAndMirrored();
    }

    @Test
    void whoHadSeenRevisionsOfTheSourceMissesNothingOfWhatTheTargetWasTheHomeOf() throws Exception {
        drill.switchOver();
        Revision moved = TargetCheckpoint.read(drill.clusters().forward().target(), "dr")
                .checkpoint()
                .revision();
        long first = target.put("/c", "3");
        target.put("/d", "4");
        RevisionMap map = new RevisionMap(
                new CheckpointHistory("dr", drill.clusters().forward().target().cluster()));
        assertThat(map.translate(moved))
                .isInstanceOfSatisfying(
                        ResumeAt.class, at -> assertThat(at.start().value()).isLessThanOrEqualTo(first));

        drill.failback().run();
        drill.assertEqualAndMirrored();
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
        try (MirrorProcess mirror = Mirrors.start(drill.settings())) {
            awaitCaughtUp(mirror, source);
            assertThatThrownBy(
                            () -> drill.switchover(new Killed("freeze", true)).run())
                    .isInstanceOf(Killed.KilledException.class);
        }
        HandoverReport report = drill.failover(Drill.OPTIONS.forced()).run();
        assertThat(report.next().toString()).contains("the source may still be frozen");
        target.put("/c", "written at the new home");
        assertThat(drill.failback().run().loss()).isEqualTo("none");
        drill.assertEqualAndMirrored();
    }

    @Test
    void runAgainItPutsRightWhatTheOldSourceWasWrittenMeanwhile() {
        drill.switchOver();
        target.put("/c", "written at the new home");
        HandoverListener stray = new HandoverListener() {
            @Override
            public void ends(StepPlan step) {
                if (step.name().equals("drain")) {
                    source.put("/stray", "by a client that knows of no switchover");
                }
            }
        };
        assertThatThrownBy(() -> drill.failback(stray).run()).hasMessageContaining("/stray");

        List<String> taken = new ArrayList<>();
        HandoverListener taking = new HandoverListener() {
            @Override
            public void begins(StepPlan step) {
                taken.add(step.name());
            }
        };
        Failback again = drill.failback(taking);
        Survey found = again.survey();
        assertThat(found.first()).containsExactly("\"/stray\"");
        List<String> planned = again.plan(found).stream().map(StepPlan::name).toList();
        assertThat(planned).startsWith("thaw", "lift", "mirror");
        assertThat(again.run().loss()).contains("/stray");
        assertThat(taken).isEqualTo(planned);
        drill.assertEqualAndMirrored();
        assertThat(source.contents()).hasSize(4);
    }

    @ParameterizedTest
    @ValueSource(strings = {"verify", "fence"})
    void comparesAgainWhatWasWrittenAfterItWasKilledThoughThatWasComparedBefore(String step) {
        drill.switchOver();
        assertThatThrownBy(() -> drill.failback(new Killed(step, true)).run())
                .isInstanceOf(Killed.KilledException.class);
        source.put("/stray", "by a client that knows of no switchover");
        assertThat(drill.failback().run().loss()).contains("/stray");
        drill.assertEqualAndMirrored();
        assertThat(source.contents()).hasSize(3);
    }

    static List<String> killed() {
        return Schedule.isLong() ? List.of("freeze", "verify", "fence", "home", "release") : List.of("freeze", "home");
    }

    @ParameterizedTest
    @MethodSource("killed")
    void goesOnWhereItWasKilled(String step) {
        drill.switchOver();
        target.put("/c", "3");
        assertThatThrownBy(() -> drill.failback(new Killed(step, true)).run())
                .isInstanceOf(Killed.KilledException.class);
        assertThat(drill.failback().run().loss()).isEqualTo("none");
        drill.assertEqualAndMirrored();
    }

    @Test
    void theNextSwitchoverBeginsAnewAfterOneThatWasKilledOnceItHadMovedTheHome() {
        try (MirrorProcess mirror = Mirrors.start(drill.settings())) {
            awaitCaughtUp(mirror, source);
            assertThatThrownBy(() -> drill.switchover(new Killed("home", false)).run())
                    .isInstanceOf(Killed.KilledException.class);
        }
        assertThat(drill.failback().run().loss()).isEqualTo("none");
        List<String> begun = new ArrayList<>();
        try (MirrorProcess mirror = Mirrors.start(drill.settings())) {
            awaitCaughtUp(mirror, source);
            HandoverListener listener = new HandoverListener() {
                @Override
                public void begins(StepPlan step) {
                    begun.add(step.name());
                }
            };
            assertThat(drill.switchover(listener).run().loss()).isEqualTo("none");
        }
        assertThat(begun).contains("check", "freeze", "drain", "verify", "fence", "home", "release");
    }
}
