package io.understudy.mirror;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.etcd.EtcdSettings;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.vocabulary.KeyRange;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Real etcd to real etcd: after each kind of commit the target holds exactly what the source holds. */
final class EtcdMirrorIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @RegisterExtension
    static final EtcdExtension TARGET = EtcdExtension.voters(1).named("target");

    private TestClient source;
    private TestClient target;

    @BeforeEach
    void connect() {
        source = TestClient.of(SOURCE.cluster().leader());
        target = TestClient.of(TARGET.cluster().leader());
    }

    @AfterEach
    void disconnect() {
        source.close();
        target.close();
    }

    @Test
    void copiesWhatIsThereAndWhatFollows() throws IOException {
        source.put("a", "1");
        source.put("b", "");
        try (MirrorProcess mirror = start()) {
            awaitEqual(mirror);
            source.put("c", "3");
            source.delete("a");
            source.put("b", "2");
            awaitEqual(mirror);
            assertThat(target.contents()).hasSize(2);
        }
    }

    private MirrorProcess start() throws IOException {
        return MirrorProcess.start(new MirrorSettings(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                List.of(new MirrorSettings.Mirror(
                        "dr",
                        settings(SOURCE.cluster()),
                        EtcdFeedOptions.DEFAULTS,
                        KeyRange.all(),
                        new MirrorSettings.Target.Etcd(settings(TARGET.cluster()), EtcdSinkOptions.DEFAULTS)))));
    }

    private static EtcdSettings settings(LocalEtcd cluster) {
        return EtcdSettings.of(cluster.clientUrls().toArray(URI[]::new));
    }

    private void awaitEqual(MirrorProcess mirror) {
        long head = source.get(ByteString.copyFromUtf8("a")).getHeader().getRevision();
        await().atMost(PATIENCE).untilAsserted(() -> {
            MirrorReport report = mirror.reports().get(0);
            assertThat(report.state()).isEqualTo(MirrorState.SYNCED);
            assertThat(report.completeRevision()).isGreaterThanOrEqualTo(head);
        });
        assertThat(target.contents()).isEqualTo(source.contents());
    }
}
