package io.understudy.mirror.takeover;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The home of one mirror moves and comes back while another one copies the same keys from the same source. */
@Tag("takeover")
final class SharedSourceIT {

    private static final HandoverOptions OPTIONS = HandoverOptions.DEFAULTS
            .within(Duration.ofSeconds(30), Duration.ofSeconds(20))
            .acceptingSilentWatchers();

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @RegisterExtension
    static final EtcdExtension FIRST = EtcdExtension.voters(1).named("first");

    @RegisterExtension
    static final EtcdExtension SECOND = EtcdExtension.voters(1).named("second");

    @Test
    void theOtherMirrorPassesOnWhatAFailbackBrings() {
        try (TestClient source = TestClient.of(SOURCE.cluster().leader());
                TestClient first = TestClient.of(FIRST.cluster().leader());
                TestClient second = TestClient.of(SECOND.cluster().leader())) {
            source.put("/a", "1");
            try (MirrorProcess other = Mirrors.start(mirror("ma", FIRST.cluster()));
                    MirrorProcess moving = Mirrors.start(mirror("mb", SECOND.cluster()));
                    MirrorParties clusters =
                            new MirrorParties(mirror("mb", SECOND.cluster()), null, null, OPTIONS.patience())) {
                awaitCaughtUp(other, source);
                awaitCaughtUp(moving, source);
                assertThat(Handover.switchover(clusters.forward(), OPTIONS, HandoverListener.NONE)
                                .run()
                                .loss())
                        .isEqualTo("none");
                second.put("/b", "written at the new home");

                Failback failback = new Failback(clusters, OPTIONS, PATIENCE, HandoverListener.NONE, report -> {});
                assertThat(failback.run().loss()).isEqualTo("none");

                source.put("/c", "written at the old home, which is the new one");
                awaitCaughtUp(other, source);
                awaitCaughtUp(moving, source);
                assertThat(source.contents()).hasSize(3);
                await().atMost(PATIENCE).untilAsserted(() -> {
                    assertThat(first.contents()).isEqualTo(source.contents());
                    assertThat(second.contents()).isEqualTo(source.contents());
                });
                assertThat(other.failure()).isNotDone();
                assertThat(moving.failure()).isNotDone();
            }
        }
    }

    private static MirrorSettings.Mirror mirror(String name, LocalEtcd target) {
        return new MirrorSettings.Mirror(
                name,
                MirrorSettings.Source.Etcd.of(Mirrors.settings(SOURCE.cluster())),
                MirrorScope.all(),
                MirrorSettings.Target.Etcd.of(
                        Mirrors.settings(target),
                        EtcdSinkOptions.DEFAULTS
                                .withProgressInterval(Duration.ofMillis(100))
                                .withMaxPrunePercent(100)));
    }
}
