package io.understudy.mirror.takeover;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.CompactionRequest;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.verify.ForeignWrites;
import io.understudy.mirror.verify.VerifyOptions;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a failback tells of what was lost: all that was, and no more than is known. */
@Tag("takeover")
final class ToldFailbackIT {

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
    void saysThatItCanNotTellOfLaterDeletesOnceTheNewHomesHistoryIsCompacted() {
        drill.switchOver();
        assertThatThrownBy(() -> drill.failback(killedAtTheEnd()).run()).isInstanceOf(Killed.KilledException.class);
        long deleted = target.delete("/a");
        var unused = target.kv()
                .compact(CompactionRequest.newBuilder().setRevision(deleted).build());

        assertThat(drill.failback().run().loss())
                .isEqualTo(
                        "none, when the home moved; the new home does not report whether there were deletes or expiries"
                                + " since then, which will be lost");
    }

    @Test
    void oneThatWasKilledOnceTheHomeWasBackIsToldByTheNextFailover() {
        drill.failOver();
        assertThatThrownBy(() -> drill.failback(new Killed("home", true)).run())
                .isInstanceOf(Killed.KilledException.class);
        CLUSTERS.source().leader().kill();
        try {
            HandoverOptions impatient = Drill.OPTIONS.within(Duration.ofSeconds(1), Duration.ofSeconds(1));
            assertThat(drill.failover(impatient).run().loss())
                    .startsWith("possible, everything after revision")
                    .contains("A failback that was under way may have moved it since")
                    .contains("etcdctl alarm disarm");
        } finally {
            CLUSTERS.source().mend();
        }
    }

    @Test
    void tellsWhatTheMirrorBackHasOverwrittenAfterTheComparison() {
        drill.switchOver();
        HandoverListener early = new HandoverListener() {
            @Override
            public void ends(StepPlan step) {
                if (step.name().equals("verify")) {
                    source.put("/a", "by a client that comes back too early");
                    source.put("/b", "by that one, too");
                    target.delete("/a");
                    await().until(() -> source.contents().size() == 1);
                }
            }
        };
        assertThat(drill.failback(early).run().loss())
                .startsWith("1 key as the old source had them, written or deleted there since revision")
                .endsWith("such as \"/a\"; nothing else");
    }

    @Test
    void tellsWhatTheOldSourceDeletedOrWroteAfterTheThaw_alsoOnceItIsOverwritten() {
        drill.failOver();
        source.delete("/a");
        assertThat(drill.failback().survey().first()).containsExactly("\"/a\"");
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
        assertThatThrownBy(() -> drill.failback(stray).run()).isInstanceOf(Killed.KilledException.class);
        assertThat(source.contents()).isEqualTo(target.contents()).hasSize(2);

        assertThat(drill.failback().run().loss())
                .startsWith("2 keys as the old source had them, written or deleted there since revision")
                .contains("\"/a\"", "\"/b\"");
        drill.assertEqualAndMirrored();
    }

    @Test
    void tellsWhatIsLostAlsoIfItWasKilledWhenThatWasTold() {
        drill.failOver();
        source.put("/late", "never mirrored");
        assertThatThrownBy(() -> drill.failback(killedAtTheEnd()).run()).isInstanceOf(Killed.KilledException.class);
        assertThat(drill.failback().run().loss()).contains("/late");
        drill.assertEqualAndMirrored();
    }

    @Test
    void tellsOfDeletesAtTheNewHomeThatCameTooLate_andTheMirrorGoesOn() {
        drill.switchOver();
        target.put("/c", "3");
        assertThatThrownBy(() -> drill.failback(new Killed("release", true)).run())
                .isInstanceOf(Killed.KilledException.class);
        target.delete("/c");
        assertThat(drill.failback().run().loss()).contains("1 commit of the new home after revision");
        assertThat(source.contents()).hasSize(3);
        try (MirrorProcess mirror = Mirrors.start(drill.settings())) {
            awaitCaughtUp(mirror, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void saysWhatMayComeWhereItHadLiftedTheFreezeBeforeItWasKilled() {
        drill.switchOver();
        target.put("/c", "3");
        assertThatThrownBy(() -> drill.failback(new Killed("release", true)).run())
                .isInstanceOf(Killed.KilledException.class);
        target.thaw();
        assertThat(drill.failback().run().loss())
                .contains("Since then the freeze of the new home was lifted: what came before that was not counted");
        drill.assertEqualAndMirrored();
    }

    @Test
    void takesNothingForLostThatTheNewHomeHasToo() {
        drill.failOver();
        source.put("/c", "on both sides");
        target.put("/c", "on both sides");
        source.delete("/a");
        target.delete("/a");
        assertThat(drill.failback().survey().lost()).isEmpty();
        assertThat(drill.failback().run().loss()).isEqualTo("none");
    }

    @Test
    void itsMirrorBackRepairsNothingWhateverIsConfigured() {
        drill.close();
        drill = Drill.of(CLUSTERS, 100, new VerifyOptions(500, ForeignWrites.REPAIR));
        MirrorSettings.Target.Etcd back =
                (MirrorSettings.Target.Etcd) drill.clusters().reversed().target();
        assertThat(back.verify()).isEqualTo(new VerifyOptions(500, ForeignWrites.REPORT));
    }

    private static HandoverListener killedAtTheEnd() {
        return new HandoverListener() {
            @Override
            public void begins(StepPlan step) {
                if (step.name().equals("finish")) {
                    throw new Killed.KilledException();
                }
            }
        };
    }
}
