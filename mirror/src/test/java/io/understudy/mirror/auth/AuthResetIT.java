package io.understudy.mirror.auth;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.MirrorSettings;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.ShownAuth;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.scope.MirrorScope;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** A source that was restored from a backup has lost users, but the target keeps them. */
@Timeout(240)
final class AuthResetIT {

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    @TempDir
    private Path folder;

    @Test
    void aSourceThatWentBackTakesNothingAwayFromTheTargetThoughItsKeysAreTheSame() throws Exception {
        Path backup = folder.resolve("backup.db");
        try (AuthSide source = AuthSide.of(CLUSTERS.source(), null);
                AuthSide target = AuthSide.of(CLUSTERS.target(), null);
                MirrorProcess mirror = Mirrors.start(new MirrorSettings.Mirror(
                        "dr",
                        MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                        MirrorScope.all(),
                        MirrorSettings.Target.Etcd.of(Mirrors.settings(CLUSTERS.target()), EtcdSinkOptions.DEFAULTS)
                                .with(new AuthOptions(
                                        AuthMode.COPY, null, Duration.ofMillis(100), Duration.ofSeconds(5)))))) {
            source.calls().addUser("ann");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(target.held().users()).containsKey("ann"));
            CLUSTERS.source().snapshot(backup);
            source.calls().addUser("ben");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(target.held().users()).containsKey("ben"));

            CLUSTERS.source().restore(backup);
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            ShownAuth.of(mirror).json().path("problem").asText())
                    .contains("went back"));
            assertThat(target.held().users()).containsKey("ben");
        }
    }
}
