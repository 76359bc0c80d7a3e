package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.gateway.verify.Verifier.VerifySettings;
import io.understudy.local.junit.EtcdExtension;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/**
 * A source that lost its history: the gateway reports it and does not follow.
 *
 * <p>Tests invariants G2, R4.
 */
@Timeout(180)
final class SourceLossIT {

    @RegisterExtension
    final EtcdExtension source = EtcdExtension.voters(1).named("source");

    @TempDir
    private Path folder;

    @Test
    void aSourceRestoredFromABackupFailsTheGatewayThoughItHasPassedItsRevision() throws Exception {
        Path backup = folder.resolve("backup.db");
        source.cluster().etcdctl("put", "key", "before");
        source.cluster().snapshot(backup);
        source.cluster().etcdctl("put", "key", "lost");
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(source.cluster()))) {
            fixture.awaitReady();
            source.cluster().restore(backup);
            for (int i = 0; i < 5; i++) {
                source.cluster().etcdctl("put", "key", "other " + i);
            }
            await().atMost(PATIENCE).until(() -> fixture.gateway.failure().isCompletedExceptionally());
            assertThat(fixture.page("/readyz").statusCode()).isEqualTo(503);
            assertThat(fixture.page("/readyz").body()).contains("[-]feed failed: stopped permanently: ");
            assertThat(fixture.page("/livez").statusCode()).isEqualTo(503);
            assertThat(fixture.etcdctl("get", "key", "--consistency=s")).isEqualTo("key\nlost\n");
        }
    }

    @Test
    void aReplicaIsNotRebuiltFromARestoredSource() throws Exception {
        Path backup = folder.resolve("backup.db");
        source.cluster().etcdctl("put", "hidden", "before");
        source.cluster().snapshot(backup);
        TamperedFeeds feeds = new TamperedFeeds(ByteString.copyFromUtf8("hidden"));
        GatewaySettings settings =
                GatewayFixture.settings(source.cluster()).with(new VerifySettings(Duration.ofMillis(300), 4 << 20));
        try (GatewayFixture fixture = new GatewayFixture(
                Gateway.start(settings, UnaryOperator.identity(), original -> feeds.between(original)))) {
            fixture.awaitReady();
            source.cluster().etcdctl("put", "key", "lost");
            fixture.awaitRevision(3);
            source.cluster().etcdctl("put", "hidden", "lost");
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(fixture.page("/readyz").body()).contains("[-]verification failed"));
            source.cluster().restore(backup);
            for (int i = 0; i < 5; i++) {
                source.cluster().etcdctl("put", "key", "other " + i);
            }
            feeds.letRebuild();
            await().atMost(PATIENCE).until(() -> fixture.gateway.failure().isCompletedExceptionally());
            assertThat(fixture.page("/livez").body())
                    .contains("[-]feed failed: stopped permanently: source history changed");
            assertThat(fixture.page("/metrics").body())
                    .contains("understudy_gateway_replica_ready{process=\"gateway\"} 0.0");
        }
    }
}
