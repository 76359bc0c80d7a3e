package io.understudy.mirror.takeover;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.checkpoint.CheckpointState;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What is told of a hand-over before, in its midst and afterwards is what is so.
 *
 * <p>Tests invariant M38.
 */
@Tag("takeover")
final class ToldHandoverIT {

    private static final HandoverOptions OPTIONS = HandoverOptions.DEFAULTS
            .within(Duration.ofSeconds(30), Duration.ofSeconds(20))
            .acceptingSilentWatchers();

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private MirrorProcess mirror;
    private MirrorParties clusters;
    private Parties parties;

    @BeforeEach
    void mirror() {
        MirrorSettings.Mirror settings = new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                MirrorScope.all(),
                MirrorSettings.Target.Etcd.of(
                        Mirrors.settings(CLUSTERS.target()),
                        EtcdSinkOptions.DEFAULTS.withProgressInterval(Duration.ofMillis(100))));
        clusters = new MirrorParties(settings, null, null, OPTIONS.patience());
        parties = clusters.forward();
        source.put("/a", "1");
        mirror = Mirrors.start(settings);
        awaitCaughtUp(mirror, source);
    }

    @AfterEach
    void disconnect() {
        mirror.close();
        clusters.close();
        source.thaw();
        target.thaw();
    }

    @Test
    void aFreezeThatCanNotBeRaisedIsRefusedBeforeAnythingIsStored() {
        assertThatThrownBy(
                        () -> switchover(FreezeMode.AUTH, HandoverListener.NONE).run())
                .hasMessageContaining("authentication is not enabled");
        assertThatThrownBy(
                        () -> switchover(FreezeMode.AUTH, HandoverListener.NONE).undo())
                .hasMessageContaining("nothing to undo");
    }

    @Test
    void thePlanOfOneUnderWayIsAsThatWasBegun() {
        assertThatThrownBy(() ->
                        switchover(FreezeMode.ALARM, new Killed("freeze", true)).run())
                .isInstanceOf(Killed.KilledException.class);
        assertThat(switchover(FreezeMode.NONE, HandoverListener.NONE)
                        .plan()
                        .get(1)
                        .does())
                .contains("raises a NOSPACE alarm", "begun with --freeze alarm");
        assertThat(switchover(FreezeMode.ALARM, HandoverListener.NONE)
                        .plan()
                        .get(1)
                        .does())
                .doesNotContain("begun");
    }

    @Test
    void countsWhatWasWrittenToASourceThatWasNotFrozen() {
        HandoverReport report = switchover(FreezeMode.NONE, new HandoverListener() {
                    @Override
                    public void ends(StepPlan step) {
                        if (step.name().equals("fence") || step.name().equals("home")) {
                            source.put("/late", step.name());
                        }
                    }
                })
                .run();
        assertThat(report.loss()).startsWith("2 commits to mirrored keys: the source was not frozen");
        assertThat(report.next().toString()).contains("stop all writers of");
    }

    @Test
    void aFailoverToWhatIsNoStateOfTheSourceSaysSo() {
        mirror.close();
        TargetCheckpoint found = TargetCheckpoint.read(parties.target(), parties.mirror());
        assertThat(found.replace(
                        parties.target(), parties.mirror(), found.checkpoint().in(CheckpointState.SYNCING)))
                .isTrue();
        Handover failover = Handover.failover(parties, OPTIONS.forced(), HandoverListener.NONE);
        assertThat(failover.plan().get(0).does()).contains("it is syncing", "no state that the source ever had");
        HandoverReport report = failover.run();
        assertThat(report.loss()).startsWith("certain").contains("syncing", "no state that the source ever had");
        assertThat(report.facts().toString()).contains("no state that the source ever had: it was syncing");
    }

    @Test
    void tellsAsUndoneOnlyWhatWasDone() {
        assertThatThrownBy(() -> switchover(FreezeMode.ALARM, new Killed("freeze", false))
                        .run())
                .isInstanceOf(Killed.KilledException.class);
        List<String> heard = new ArrayList<>();
        Handover switchover = switchover(FreezeMode.ALARM, new HandoverListener() {
            @Override
            public void begins(StepPlan step) {
                heard.add(step.name());
            }
        });
        assertThat(switchover.undoPlan()).extracting(StepPlan::name).containsExactly("freeze", "check");
        assertThat(switchover.undo()).extracting(StepPlan::name).containsExactly("freeze", "check");
        assertThat(heard).containsExactly("freeze", "check");
        source.put("/a", "2");
    }

    private Handover switchover(FreezeMode freeze, HandoverListener listener) {
        return Handover.switchover(parties, OPTIONS.with(freeze), listener);
    }
}
