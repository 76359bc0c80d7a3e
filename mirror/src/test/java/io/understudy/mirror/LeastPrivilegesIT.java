package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.google.protobuf.ByteString;
import io.understudy.etcd.Credentials;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.VerifyReport;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A mirror of {@code /in/} with the permissions that the README lists, and with one of them missing. */
@Timeout(120)
final class LeastPrivilegesIT {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String OURS = "\0understudy/";
    private static final String OURS_END = "\0understudy0";

    /** What is granted: its type, its first key, and the end of its range. */
    private record Grant(String type, String from, String end) {}

    private static final Grant READ_KEYS = new Grant("READ", "/in/", "/in0");
    private static final Grant READ_MARKS = new Grant("READ", OURS, "/in/");
    private static final Grant WRITE_HOMES = new Grant("READWRITE", "\0understudy/home/", "\0understudy/home0");
    private static final Grant WRITE_KEYS = new Grant("READWRITE", "/in/", "/in0");
    private static final Grant WRITE_OURS = new Grant("READWRITE", OURS, OURS_END);

    @TempDir
    private static Path folder;

    private static LocalEtcd source;
    private static LocalEtcd target;

    private final MirrorSettings.Mirror settings = new MirrorSettings.Mirror(
            "dr",
            MirrorSettings.Source.Etcd.of(Mirrors.settings(source).withLogin(new Credentials("mirror", "secret"))),
            new MirrorScope(List.of(ByteString.copyFromUtf8("/in/")), List.of(), ByteString.EMPTY, ByteString.EMPTY),
            MirrorSettings.Target.Etcd.of(
                    Mirrors.settings(target).withLogin(new Credentials("mirror", "secret")), EtcdSinkOptions.DEFAULTS));

    @BeforeAll
    static void start() {
        source = cluster("source");
        target = cluster("target");
    }

    private static LocalEtcd cluster(String name) {
        LocalEtcd cluster = LocalEtcd.builder()
                .name(name)
                .fsync(false)
                .dataDirectory(folder.resolve(name))
                .build();
        cluster.start();
        cluster.enableAuthentication("root");
        asRoot(cluster, "user", "add", "mirror:secret");
        asRoot(cluster, "role", "add", "mirror");
        asRoot(cluster, "user", "grant-role", "mirror", "mirror");
        return cluster;
    }

    @AfterAll
    static void stop() {
        source.close();
        target.close();
    }

    @BeforeEach
    void grantAll() throws Exception {
        grant(source, READ_KEYS);
        grant(source, READ_MARKS);
        grant(source, WRITE_HOMES);
        grant(target, WRITE_KEYS);
        grant(target, WRITE_OURS);
    }

    @Test
    void withThemItCopiesAndVerifiesAndWithoutOneItSaysWhatItLacks() throws Exception {
        asRoot(source, "put", "/in/a", "1");
        asRoot(source, "put", "/out/a", "1");
        // Written once, when a mirror begins.
        failsWithout(source, WRITE_HOMES);
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            awaitCopied(mirror, "/in/a");
            asRoot(source, "put", "/in/b", "2");
            awaitCopied(mirror, "/in/b");
        }
        assertThat(MirrorQuestions.verify(settings, keys -> {}))
                .isInstanceOfSatisfying(VerifyReport.class, report -> assertThat(report.isEqual())
                        .isTrue());
        assertThat(asRoot(target, "get", "--prefix", "/", "--keys-only")).doesNotContain("/out/");

        failsWithout(source, READ_KEYS);
        failsWithout(source, READ_MARKS);
        failsWithout(target, WRITE_KEYS);
        failsWithout(target, WRITE_OURS);
    }

    @Test
    void theReadmeGrantsTheSame() throws Exception {
        String readme = Files.readString(Path.of("README.md"));
        for (Grant grant : List.of(READ_MARKS, WRITE_HOMES, WRITE_OURS)) {
            assertThat(readme)
                    .contains("{\"permType\": \"%s\", \"key\": \"%s\", \"range_end\": \"%s\"}"
                            .formatted(grant.type(), base64(grant.from()), base64(grant.end())));
        }
        assertThat(readme)
                .contains(
                        "etcdctl role grant-permission mirror --prefix read /in/ ",
                        "etcdctl role grant-permission mirror --prefix readwrite /in/ ");
    }

    private void failsWithout(LocalEtcd cluster, Grant grant) throws Exception {
        revoke(cluster, grant);
        // So that there is something to be written.
        asRoot(source, "put", "/in/c", Long.toString(System.nanoTime()));
        try (MirrorProcess mirror = Mirrors.start(settings)) {
            await().atMost(PATIENCE).untilAsserted(() -> {
                MirrorReport report = mirror.reports().get(0);
                assertThat(report.reason() + "; " + report.lastError())
                        .as("without %s at the %s: %s", grant, cluster.name(), report)
                        .contains("permission denied");
                assertThat(report.state()).isNotEqualTo(MirrorState.SYNCED);
            });
        }
        grant(cluster, grant);
    }

    private static void awaitCopied(MirrorProcess mirror, String key) {
        await().atMost(PATIENCE).untilAsserted(() -> {
            MirrorReport report = mirror.reports().get(0);
            assertThat(asRoot(target, "get", key)).as(report.toString()).contains(key);
        });
    }

    private static String asRoot(LocalEtcd cluster, String... command) {
        String[] line = new String[command.length + 1];
        line[0] = "--user=root:root";
        System.arraycopy(command, 0, line, 1, command.length);
        return cluster.etcdctl(line);
    }

    /** As no argument of a program can hold the first byte of our keys. */
    private static void grant(LocalEtcd cluster, Grant grant) throws Exception {
        Map<String, Object> permission =
                Map.of("permType", grant.type(), "key", base64(grant.from()), "range_end", base64(grant.end()));
        post(cluster, "/v3/auth/role/grant", Map.of("name", "mirror", "perm", permission));
    }

    private static void revoke(LocalEtcd cluster, Grant grant) throws Exception {
        post(
                cluster,
                "/v3/auth/role/revoke",
                Map.of("role", "mirror", "key", base64(grant.from()), "range_end", base64(grant.end())));
    }

    private static String base64(String key) {
        return Base64.getEncoder().encodeToString(key.getBytes(StandardCharsets.UTF_8));
    }

    private static void post(LocalEtcd cluster, String path, Map<String, Object> request) throws Exception {
        String token = send(cluster, "/v3/auth/authenticate", Map.of("name", "root", "password", "root"), "")
                .path("token")
                .asText();
        var unused = send(cluster, path, request, token);
    }

    private static JsonNode send(LocalEtcd cluster, String path, Map<String, Object> request, String token)
            throws Exception {
        URI url = cluster.clientUrls().get(0).resolve(path);
        HttpRequest.Builder builder = HttpRequest.newBuilder(url)
                .timeout(Duration.ofSeconds(10))
                .POST(HttpRequest.BodyPublishers.ofString(JSON.writeValueAsString(request)));
        if (!token.isEmpty()) {
            builder.header("Authorization", token);
        }
        var answer = HttpClient.newHttpClient().send(builder.build(), BodyHandlers.ofString());
        assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
        return JSON.readTree(answer.body());
    }
}
