package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.understudy.etcd.Credentials;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SecuredCluster;
import io.understudy.mirror.fixture.SecuredCluster.Grant;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.mirror.status.MirrorLine;
import io.understudy.mirror.status.StatusClient;
import io.understudy.mirror.verify.VerifyReport;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A mirror of {@code /in/} with the permissions that docs/operate/security.md lists, and with one of them missing. */
@Timeout(120)
final class LeastPrivilegesIT {

    private static final String OURS = "\0understudy/";
    private static final String OURS_END = "\0understudy0";

    private static final Credentials LOGIN = new Credentials(SecuredCluster.MIRROR, SecuredCluster.PASSWORD);
    private static final Grant READ_KEYS = new Grant("READ", "/in/", "/in0");
    private static final Grant READ_MARKS = new Grant("READ", OURS, "/in/");
    private static final Grant WRITE_HOMES = new Grant("READWRITE", "\0understudy/home/", "\0understudy/home0");
    private static final Grant WRITE_KEYS = new Grant("READWRITE", "/in/", "/in0");
    private static final Grant WRITE_OURS = new Grant("READWRITE", OURS, OURS_END);

    @TempDir
    private static Path folder;

    private static SecuredCluster source;
    private static SecuredCluster target;

    private final MirrorSettings.Mirror settings = new MirrorSettings.Mirror(
            "dr",
            MirrorSettings.Source.Etcd.of(Mirrors.settings(source.etcd()).withLogin(LOGIN)),
            new MirrorScope(List.of(ByteString.copyFromUtf8("/in/")), List.of(), ByteString.EMPTY, ByteString.EMPTY),
            MirrorSettings.Target.Etcd.of(Mirrors.settings(target.etcd()).withLogin(LOGIN), EtcdSinkOptions.DEFAULTS));

    @BeforeAll
    static void start() {
        source = SecuredCluster.start("source", folder.resolve("source"));
        target = SecuredCluster.start("target", folder.resolve("target"));
    }

    @AfterAll
    static void stop() {
        source.close();
        target.close();
    }

    @BeforeEach
    void grantAll() throws Exception {
        source.grant(READ_KEYS);
        source.grant(READ_MARKS);
        source.grant(WRITE_HOMES);
        target.grant(WRITE_KEYS);
        target.grant(WRITE_OURS);
    }

    @Test
    void theDocumentedPrivilegesSufficeAndAMissingOneIsReported() throws Exception {
        source.asRoot("put", "/in/a", "1");
        source.asRoot("put", "/out/a", "1");
        // Written once, when a mirror begins.
        failsWithout(source, WRITE_HOMES);
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCopied(mirror, "/in/a");
            source.asRoot("put", "/in/b", "2");
            awaitCopied(mirror, "/in/b");
            // A mirror that is never switched over is healthy.
            await().atMost(PATIENCE).untilAsserted(() -> {
                MirrorLine line = line(mirror);
                assertThat(line.note()).as(line.toString()).contains("only failover");
                assertThat(line.isReady()).isTrue();
                assertThat(line.isTakeOverPermitted()).isTrue();
                assertThat(line.warnings()).isEmpty();
            });
        }
        assertThat(MirrorInspector.verify(settings, keys -> {}))
                .isInstanceOfSatisfying(VerifyReport.class, report -> assertThat(report.isEqual())
                        .isTrue());
        assertThat(target.asRoot("get", "--prefix", "/", "--keys-only")).doesNotContain("/out/");

        failsWithout(source, READ_KEYS);
        failsWithout(source, READ_MARKS);
        failsWithout(target, WRITE_KEYS);
        failsWithout(target, WRITE_OURS);
        warnsWithSomeOfTheGrantsForASwitchover();
    }

    private void warnsWithSomeOfTheGrantsForASwitchover() throws Exception {
        source.grant(WRITE_KEYS);
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            await().atMost(PATIENCE).untilAsserted(() -> {
                MirrorLine line = line(mirror);
                assertThat(line.isTakeOverPermitted()).as(line.toString()).isFalse();
                assertThat(line.isReady()).isTrue();
                assertThat(line.note()).isEmpty();
                assertThat(line.warnings())
                        .singleElement()
                        .asString()
                        .contains(
                                "take-over not permitted", "user mirror must not write keys from \"\\000understudy/\"");
            });
        }
    }

    private static MirrorLine line(MirrorProcess mirror) throws Exception {
        URI url = URI.create("http://127.0.0.1:" + mirror.statusPort());
        return StatusClient.lines(new StatusClient(url, null).status()).get(0);
    }

    @Test
    void theDocumentationGrantsTheSame() throws Exception {
        String page = Files.readString(Path.of("../docs/operate/security.md"));
        for (Grant grant : List.of(READ_MARKS, WRITE_HOMES, WRITE_OURS)) {
            assertThat(page).contains(grant.json());
        }
        assertThat(page)
                .contains(
                        "etcdctl role grant-permission mirror --prefix read /in/ ",
                        "etcdctl role grant-permission mirror --prefix readwrite /in/ ");
    }

    private void failsWithout(SecuredCluster cluster, Grant grant) throws Exception {
        cluster.revoke(grant);
        // So that there is something to be written.
        source.asRoot("put", "/in/c", Long.toString(System.nanoTime()));
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            await().atMost(PATIENCE).untilAsserted(() -> {
                MirrorReport report = mirror.reports().get(0);
                assertThat(report.reason() + "; " + report.lastError())
                        .as("without %s at the %s: %s", grant, cluster.etcd().name(), report)
                        .contains("permission denied");
                assertThat(report.state()).isNotEqualTo(MirrorState.SYNCED);
            });
        }
        cluster.grant(grant);
    }

    private static void awaitCopied(MirrorProcess mirror, String key) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            MirrorReport report = mirror.reports().get(0);
            assertThat(target.asRoot("get", key)).as(report.toString()).contains(key);
        });
    }
}
