package io.understudy.mirror.auth;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.understudy.etcd.Duty;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.ShownAuth;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A source that was restored from a backup has lost users, but the target keeps them.
 *
 * <p>Tests invariant M13.
 */
@Timeout(240)
final class AuthResetIT {

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    @TempDir
    private Path folder;

    @Test
    void aRestoredSourceWithTheSameKeysRemovesNoUsersFromTheTarget() throws Exception {
        Path backup = folder.resolve("backup.db");
        try (AuthSide source = AuthSide.of(CLUSTERS.source(), null);
                AuthSide target = AuthSide.of(CLUSTERS.target(), null);
                MirrorProcess mirror = start()) {
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
                    .contains("decreased from"));
            assertThat(target.held().users()).containsKey("ben");
        }
        assertARestartedMirrorStopsUntilTheSeenRevisionIsDeleted();
    }

    private void assertARestartedMirrorStopsUntilTheSeenRevisionIsDeleted() throws Exception {
        try (AuthSide target = AuthSide.of(CLUSTERS.target(), null);
                MirrorProcess mirror = start()) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            ShownAuth.of(mirror).json().path("problem").asText())
                    .contains("decreased from", "/auth/seen"));
            assertThat(target.held().users()).containsKey("ben");

            ByteString seen = ReservedKeys.of("dr", "auth/seen");
            var unused = new ClusterCalls(target.cluster(), Duty.WRITE, Duration.ofSeconds(10))
                    .kv(stub -> stub.deleteRange(
                            DeleteRangeRequest.newBuilder().setKey(seen).build()));
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(target.held().users()).containsOnlyKeys("ann"));
        }
    }

    private static MirrorProcess start() {
        return Mirrors.start(new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                MirrorScope.all(),
                MirrorSettings.Target.Etcd.of(Mirrors.settings(CLUSTERS.target()), EtcdSinkOptions.DEFAULTS)
                        .with(new AuthOptions(AuthMode.COPY, null, Duration.ofMillis(100), Duration.ofSeconds(5)))));
    }
}
