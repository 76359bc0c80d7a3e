package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static io.understudy.mirror.fixture.Mirrors.awaitFailure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import io.understudy.etcd.EtcdSettings;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What a mirror process shows, how it starts and how it ends.
 *
 * <p>Tests invariant M36.
 */
final class MirrorProcessIT {

    private static final HttpClient HTTP = HttpClient.newHttpClient();

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    private final TestClient source = CLUSTERS.sourceClient();
    private final TestClient target = CLUSTERS.targetClient();

    @Test
    void showsTheStateOfEachMirror() throws Exception {
        source.put("/a/1", "1");
        source.put("/b/1", "1");
        try (MirrorProcess process = Mirrors.start(mirror("a", "/a/"), mirror("b", "/b/"))) {
            await().atMost(PATIENCE).until(() -> get(process, "/readyz").statusCode() == 200);
            source.put("/a/2", "1");
            await().atMost(PATIENCE).untilAsserted(() -> {
                JsonNode mirrors = status(process);
                assertThat(mirrors).hasSize(2);
                JsonNode a = mirrors.get(0);
                assertThat(a.path("name").textValue()).isEqualTo("a");
                assertThat(a.path("state").textValue()).isEqualTo("synced");
                assertThat(a.path("changes").longValue()).isEqualTo(2);
                assertThat(a.path("checkpoint").path("state").textValue()).isEqualTo("synced");
                assertThat(a.path("lagRevisions").longValue()).isZero();
                assertThat(a.path("lagMillis").isIntegralNumber()).isTrue();
                assertThat(a.path("lastError").isNull()).isTrue();
                assertThat(mirrors.get(1).path("changes").longValue()).isEqualTo(1);
            });
            assertThat(get(process, "/livez").body()).isEqualTo("ok\n");
            assertThat(get(process, "/readyz?verbose").body())
                    .contains("[+]a ok: synced: following the source", "[+]b ok: synced: ");
            assertThat(get(process, "/readyz?verbose&exclude=a").body()).doesNotContain("[+]a");
            assertThat(get(process, "/readyz/b").statusCode()).isEqualTo(200);
            assertThat(get(process, "/readyz/c").statusCode()).isEqualTo(404);
            assertThat(get(process, "/health").body()).isEqualTo("{\"health\":\"true\",\"reason\":\"\"}");
            assertThat(get(process, "/metrics").body())
                    .contains("understudy_mirror_changes_total{mirror=\"a\",process=\"mirror\"} 2.0")
                    .contains("understudy_mirror_changes_total{mirror=\"b\",process=\"mirror\"} 1.0")
                    .contains("understudy_mirror_transactions_total{mirror=\"a\",process=\"mirror\"}")
                    .contains("understudy_mirror_retries_total{mirror=\"a\",process=\"mirror\"} 0.0")
                    .contains("understudy_mirror_lag_revisions{mirror=\"a\",process=\"mirror\"} 0.0")
                    .contains("understudy_mirror_lag_seconds{mirror=\"a\",process=\"mirror\"}")
                    .contains("understudy_mirror_checkpoint_revision{mirror=\"a\",process=\"mirror\"}")
                    .contains("understudy_mirror_state{mirror=\"a\",process=\"mirror\",state=\"synced\"} 1.0")
                    .contains("understudy_mirror_state{mirror=\"a\",process=\"mirror\",state=\"failed\"} 0.0");
            assertThat(get(process, "/nowhere").statusCode()).isEqualTo(404);
            assertThat(send(process, "/status", "POST").statusCode()).isEqualTo(405);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void isNeitherReadyNorFailedWhileBothClustersAreUnreachable() throws Exception {
        EtcdSettings source = EtcdSettings.of(URI.create("http://127.0.0.1:1"));
        EtcdSettings target = EtcdSettings.of(URI.create("http://127.0.0.1:2"));
        try (MirrorProcess process = Mirrors.etcd(source, target, MirrorScope.all(), EtcdSinkOptions.DEFAULTS)) {
            await().atMost(PATIENCE)
                    .untilAsserted(
                            () -> assertThat(get(process, "/readyz").body()).contains("[-]dr failed: retrying: "));
            assertThat(get(process, "/readyz").statusCode()).isEqualTo(503);
            assertThat(get(process, "/livez").statusCode()).isEqualTo(200);
            assertThat(status(process).get(0).path("lastError").textValue()).contains("127.0.0.1:2");
            assertThat(process.failure()).isNotDone();
        }
    }

    @Test
    void anUnreachableSourceIsReportedUntilItIsBack() throws Exception {
        try (MirrorProcess process = Mirrors.etcd(
                Mirrors.impatient(CLUSTERS.source()),
                Mirrors.settings(CLUSTERS.target()),
                MirrorScope.all(),
                EtcdSinkOptions.DEFAULTS)) {
            source.put("k", "1");
            awaitCaughtUp(process, source);
            await("a question that was answered").atMost(PATIENCE).untilAsserted(() -> assertThat(
                            status(process).get(0).path("lagMillis").isNumber())
                    .isTrue());
            CLUSTERS.source().leader().kill();
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(get(process, "/readyz").body())
                            .contains("[-]dr failed: retrying: source etcd [http://", " has not responded since 2"));
            JsonNode away = status(process).get(0);
            assertThat(away.path("ready").booleanValue()).isFalse();
            assertThat(away.path("lagRevisions").isNull()).isTrue();
            assertThat(away.path("lagMillis").longValue()).isPositive();
            assertThat(process.failure()).isNotDone();
            CLUSTERS.source().mend();
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            get(process, "/readyz?verbose").body())
                    .contains("[+]dr ok: synced: following the source from revision "));
            source.put("k", "2");
            awaitCaughtUp(process, source);
        }
        assertThat(target.contents()).isEqualTo(source.contents());
    }

    @Test
    void aMirrorFailsAloneAndIsSyncedWhenTheCauseIsGone() throws Exception {
        target.put("/a/foreign", "1");
        try (MirrorProcess process = Mirrors.start(mirror("a", "/a/"), mirror("b", "/b/"))) {
            assertThat(awaitFailure(process)).hasMessageStartingWith("mirror a failed: ");
            assertThat(get(process, "/livez").statusCode()).isEqualTo(200);
            assertThat(get(process, "/readyz").statusCode()).isEqualTo(503);
            assertThat(get(process, "/readyz").body()).contains("[-]a failed: failed: ", "/a/foreign");
            assertThat(get(process, "/metrics").body())
                    .contains("understudy_mirror_state{mirror=\"a\",process=\"mirror\",state=\"failed\"} 1.0");
            source.put("/b/1", "1");
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            target.get(ByteString.copyFromUtf8("/b/1")).getKvsCount())
                    .isEqualTo(1));
            target.delete("/a/foreign");
            await().atMost(PATIENCE).until(() -> get(process, "/readyz").statusCode() == 200);
        }
    }

    @Test
    void aMirrorThatCannotBeOpenedFailsAlone_andLeavesNothingOpen() throws Exception {
        EtcdSettings unreadable = EtcdSettings.of(URI.create("https://127.0.0.1:1"))
                .withTls(new TlsFiles(Path.of("missing.crt"), null, null));
        MirrorSettings.Mirror closed = new MirrorSettings.Mirror(
                "closed",
                MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                MirrorScope.prefix("/closed/"),
                MirrorSettings.Target.Etcd.of(unreadable, EtcdSinkOptions.DEFAULTS));
        try (MirrorProcess process = Mirrors.start(closed, mirror("b", "/b/"))) {
            assertThat(awaitFailure(process))
                    .hasMessageStartingWith("mirror closed failed: ")
                    .hasMessageContaining("missing.crt");
            await().atMost(PATIENCE).until(() -> get(process, "/readyz/b").statusCode() == 200);
            assertThat(get(process, "/readyz").body()).contains("[-]closed failed: failed: ", "missing.crt");
            assertThat(get(process, "/livez").statusCode()).isEqualTo(200);
            assertThat(get(process, "/metrics").body())
                    .contains("understudy_mirror_state{mirror=\"closed\",process=\"mirror\",state=\"failed\"} 1.0");
            assertThat(status(process).get(0).path("state").textValue()).isEqualTo("failed");
            await("threads of the source's connection have ended")
                    .atMost(PATIENCE)
                    .until(() -> Thread.getAllStackTraces().keySet().stream()
                            .noneMatch(thread -> thread.getName().contains("closed-source")));
        }
    }

    @Test
    void lagIsReportedWhileTheTargetIsUnreachable() {
        try (MirrorProcess process = CLUSTERS.mirror()) {
            awaitCaughtUp(process, source);
            CLUSTERS.target().leader().pause();
            for (int i = 0; i < 10; i++) {
                source.put("k", "" + i);
            }
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(process.reports().get(0).lagRevisions().orElse(0)).isEqualTo(10);
                assertThat(process.reports().get(0).lagMillis().orElse(0)).isGreaterThan(1_000);
            });
            CLUSTERS.target().members().get(0).resume();
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(process.reports().get(0).lagRevisions()).hasValue(0);
                assertThat(process.reports().get(0).lagMillis()).hasValue(0);
            });
        }
    }

    @Test
    void aStatusPortInUseIsReportedAndNoThreadRemains() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            MirrorSettings settings = new MirrorSettings(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), taken.getLocalPort()),
                    List.of(mirror("a", "/a/")));
            assertThatThrownBy(() -> MirrorProcess.start(settings))
                    .isInstanceOf(IOException.class)
                    .hasMessageContaining("status.listen")
                    .hasMessageContaining(":" + taken.getLocalPort())
                    .hasMessageContaining("in use");
        }
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .noneMatch(name -> name.startsWith("mirror-"));
    }

    @Test
    void closesThoughTheTargetHangs() {
        assertThat(closesWhileTheTargetHangs()).isPositive();
    }

    @Test
    @Tag("speed")
    void closesWithinSecondsThoughTheTargetHangs() {
        assertThat(closesWhileTheTargetHangs()).isLessThan(Duration.ofSeconds(10));
    }

    /** Returns how long that takes. */
    private Duration closesWhileTheTargetHangs() {
        source.put("k", "1");
        MirrorProcess process = CLUSTERS.mirror();
        awaitCaughtUp(process, source);
        CLUSTERS.target().leader().pause();
        source.put("k", "2");
        long began = System.nanoTime();
        process.close();
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private static MirrorSettings.Mirror mirror(String name, String prefix) {
        return new MirrorSettings.Mirror(
                name,
                MirrorSettings.Source.Etcd.of(Mirrors.settings(CLUSTERS.source())),
                MirrorScope.prefix(prefix),
                MirrorSettings.Target.Etcd.of(Mirrors.settings(CLUSTERS.target()), EtcdSinkOptions.DEFAULTS));
    }

    private static JsonNode status(MirrorProcess process) throws Exception {
        return new ObjectMapper().readTree(get(process, "/status").body()).path("mirrors");
    }

    private static HttpResponse<String> get(MirrorProcess process, String path) throws Exception {
        return send(process, path, "GET");
    }

    private static HttpResponse<String> send(MirrorProcess process, String path, String method) throws Exception {
        return HTTP.send(
                HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + process.statusPort() + path))
                        .method(method, HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }
}
