package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import io.understudy.config.Binder;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.fixture.Workload;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.status.MirrorLine;
import io.understudy.mirror.status.StatusClient;
import io.understudy.mirror.verify.VerifyOptions;
import io.understudy.mirror.verify.VerifyOptions.ForeignWrites;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Foreign writes in the target are found and reported while the mirror runs, and repaired if configured.
 *
 * <p>Tests invariant M32.
 */
final class MirrorBackgroundTasksIT {

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();

    @Test
    void aForeignWriteIsReportedWithItsKeyUntilItIsGone() throws Exception {
        for (int i = 0; i < 50; i++) {
            source.put("k" + i, "v");
        }
        try (MirrorProcess process = start(new VerifyOptions(10_000, ForeignWrites.REPORT))) {
            StatusClient client = client(process);
            awaitCaughtUp(process, source);
            long before = verification(client).path("passes").asLong();
            await().atMost(PATIENCE)
                    .until(() -> verification(client).path("passes").asLong() > before + 1);
            assertThat(verification(client).path("keys").asLong()).isEqualTo(50);
            assertThat(verification(client).path("differing").asLong()).isZero();

            target.put("k7", "not ours");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            verification(client).path("differences").toString())
                    .isEqualTo("[{\"kind\":\"value\",\"sourceKey\":\"k7\",\"targetKey\":\"k7\"}]"));
            List<MirrorLine> lines = StatusClient.lines(client.status());
            assertThat(lines).hasSize(1);
            assertThat(lines.get(0).differing()).isEqualTo("1");
            assertThat(lines.get(0).state()).isEqualTo("differs");
            assertThat(lines.get(0).isReady()).isFalse();

            source.put("k7", "written again");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            StatusClient.lines(client.status()).get(0).state())
                    .isEqualTo("synced"));
            assertThat(verification(client).path("differing").asLong()).isZero();
        }
    }

    /** Passes take minutes here: what is found is found by the revisions of the target. */
    @Test
    void foreignWritesAreFoundBeforeThePassReachesThem() throws Exception {
        for (int i = 100; i < 400; i++) {
            source.put("k" + i, "v");
        }
        try (MirrorProcess process = start(new VerifyOptions(1, ForeignWrites.REPORT))) {
            StatusClient client = client(process);
            awaitCaughtUp(process, source);
            await().atMost(PATIENCE)
                    .until(() -> verification(client).path("keys").asLong() > 0);
            target.put("other", "not ours");
            target.delete("k398");
            // Between two writes of the mirror.
            source.put("k100", "w");
            await().atMost(PATIENCE)
                    .until(() -> verification(client).path("differing").asLong() == 2);
            target.put("k399", "not ours");
            await().atMost(PATIENCE)
                    .until(() -> verification(client).path("differing").asLong() == 3);
            target.put("k398", "v");
            target.put("k399", "v");
            target.delete("other");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            StatusClient.lines(client.status()).get(0).state())
                    .isEqualTo("synced"));
            assertThat(verification(client).path("keys").asLong()).isLessThan(200);
        }
    }

    /** Nothing is written, so that no write is rejected. */
    @Test
    void anAlarmOfAnIdleTargetIsReported() throws Exception {
        try (MirrorProcess process = start(new VerifyOptions(10_000, ForeignWrites.REPORT))) {
            awaitCaughtUp(process, source);
            target.freeze();
            try {
                await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                                StatusClient.lines(client(process).status())
                                        .get(0)
                                        .warnings())
                        .anyMatch(each -> each.contains("has alarm NOSPACE")));
            } finally {
                target.thaw();
            }
        }
    }

    @Test
    void foreignWritesAreRepairedWhileWritesContinue() throws Exception {
        long seed = Long.getLong("understudy.seed", System.nanoTime());
        System.out.println("seed " + seed);
        for (int i = 0; i < 30; i++) {
            source.put("k" + i, "v");
        }
        AtomicBoolean stop = new AtomicBoolean();
        try (MirrorProcess process = start(new VerifyOptions(10_000, ForeignWrites.REPAIR))) {
            awaitCaughtUp(process, source);
            Thread load = new Thread(() -> {
                Workload workload = new Workload(source, seed);
                while (!stop.get()) {
                    workload.step();
                }
            });
            load.start();
            try {
                target.put("k7", "not ours");
                target.put("k70", "not ours");
                target.delete("k8");
                await().atMost(PATIENCE).untilAsserted(() -> {
                    assertThat(value("k7")).isEqualTo("v");
                    assertThat(target.get(ByteString.copyFromUtf8("k70")).getKvsCount())
                            .isZero();
                    assertThat(value("k8")).isEqualTo("v");
                });
                await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                                verification(client(process)).path("repaired").asLong())
                        .isGreaterThanOrEqualTo(3));
            } finally {
                stop.set(true);
                load.join();
            }
            awaitCaughtUp(process, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void translatesTheRevisionAtWhichAWatcherResumes() throws Exception {
        source.put("k", "1");
        try (MirrorProcess process = start(VerifyOptions.DEFAULTS)) {
            StatusClient client = client(process);
            awaitCaughtUp(process, source);
            long seen = source.put("k", "2");
            source.put("k", "3");
            awaitCaughtUp(process, source);
            JsonNode answer = new ObjectMapper().readTree(client.translate(null, new Revision(seen)));
            assertThat(answer.path("answer").asText()).isEqualTo("resume");
            long start = answer.path("startRevision").asLong();
            long now = target.get(ByteString.copyFromUtf8("k")).getHeader().getRevision();
            assertThat(target.watch(start, now))
                    .filteredOn(event -> event.getKv().getKey().toStringUtf8().equals("k"))
                    .last()
                    .satisfies(event ->
                            assertThat(event.getKv().getValue().toStringUtf8()).isEqualTo("3"));

            assertThat(client.translate("dr", new Revision(seen + 1_000))).contains("\"answer\" : \"not-yet\"");
            assertThatThrownBy(() -> client.translate("other", new Revision(1)))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("404")
                    .hasMessageContaining("[dr]");
        }
    }

    private String value(String key) {
        return target.get(ByteString.copyFromUtf8(key)).getKvsList().stream()
                .map(kv -> kv.getValue().toStringUtf8())
                .findFirst()
                .orElse("");
    }

    private static StatusClient client(MirrorProcess process) {
        return new StatusClient(URI.create("http://127.0.0.1:" + process.statusPort()), null);
    }

    private static JsonNode verification(StatusClient client) throws Exception {
        return new ObjectMapper()
                .readTree(client.status())
                .path("mirrors")
                .path(0)
                .path("verification");
    }

    private static MirrorProcess start(VerifyOptions verify) {
        return Mirrors.start(new MirrorSettings.Mirror(
                "dr",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                MirrorScope.all(),
                Binder.with(
                        MirrorSettings.Target.Etcd.of(Mirrors.settings(CLUSTERS.target()), EtcdSinkOptions.DEFAULTS),
                        verify)));
    }
}
