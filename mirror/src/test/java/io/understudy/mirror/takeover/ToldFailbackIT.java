package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.CompactionRequest;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.auth.AuthOptions;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.ForeignWrites;
import io.understudy.mirror.verify.VerifyOptions;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a failback tells of what was lost: all that was, and no more than is known. */
final class ToldFailbackIT {

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();
    private Drill drill;

    @BeforeEach
    void beginEmpty() {
        drill = Drill.of(settings(VerifyOptions.DEFAULTS), source);
        source.put("/a", "1");
        source.put("/b", "2");
    }

    @AfterEach
    void disconnect() {
        drill.clusters().close();
        source.thaw();
        target.thaw();
    }

    @Test
    void saysThatItCanNotTellOfLaterDeletesOnceTheNewHomesHistoryIsCompacted() {
        drill.switchOver();
        assertThatThrownBy(() -> drill.failback(killedAtTheEnd()).run()).isInstanceOf(Killed.KilledException.class);
        long deleted = target.delete("/a");
        var unused = target.kv()
                .compact(CompactionRequest.newBuilder().setRevision(deleted).build());

        assertThat(drill.failback(HandoverListener.NONE).run().loss())
                .isEqualTo(
                        "none, when the home moved; the new home does not tell whether there were deletes or expiries"
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
            assertThatThrownBy(() -> drill.failover(impatient).run())
                    .hasMessageContaining("already, by the failover of 20")
                    .hasMessageContaining("A failback that was under way may have moved it since")
                    .hasMessageContaining("etcdctl alarm disarm");
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
    void itsMirrorBackRepairsNothingWhateverIsConfigured() {
        drill.clusters().close();
        drill = Drill.of(settings(new VerifyOptions(500, ForeignWrites.REPAIR)), source);
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

    private static MirrorSettings.Mirror settings(VerifyOptions verify) {
        return new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                MirrorScope.all(),
                new MirrorSettings.Target.Etcd(
                        Mirrors.settings(CLUSTERS.target()),
                        EtcdSinkOptions.DEFAULTS
                                .withProgressInterval(Duration.ofMillis(100))
                                .withMaxPrunePercent(100),
                        verify,
                        null,
                        MirrorSettings.Target.Etcd.ACTIVE_TTL,
                        AuthOptions.DEFAULTS));
    }
}
