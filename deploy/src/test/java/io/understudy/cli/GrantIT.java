package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.gateway.Gateway;
import io.understudy.gateway.GatewaySettings;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.mirror.MirrorConfiguration;
import io.understudy.mirror.MirrorProcess;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The users that {@code gateway grant} and {@code mirror grant} create suffice, and may do nothing else. */
final class GrantIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String ROOT = "root";

    @TempDir
    private Path folder;

    private LocalEtcd source;
    private LocalEtcd target;
    private Path rootPassword;
    private Path ownPassword;
    private String text = "";

    @BeforeEach
    void start() throws Exception {
        source = secured("source");
        target = secured("target");
        rootPassword = Files.writeString(folder.resolve("root.password"), ROOT + "\n");
        ownPassword = Files.writeString(folder.resolve("own.password"), "secret\n");
    }

    @AfterEach
    void stop() {
        source.close();
        target.close();
    }

    @Test
    void aGatewayRunsWithItsGrant() throws Exception {
        Path file = Files.writeString(folder.resolve("gateway.yaml"), """
                name: g
                listen: 127.0.0.1:0
                rest: {listen: 127.0.0.1:0}
                source: {endpoints: %s, user: reader, passwordFile: %s}
                range: {prefix: app/}
                """.formatted(
                        source.clientUrls().get(0), ownPassword));

        assertThat(gatewayGrant(file, "--dry-run")).as(text).isZero();
        assertThat(text).contains("permit role reader to read keys with the prefix app/", "create user reader");
        assertThat(asRoot(source, "role", "list")).doesNotContain("reader");

        assertThat(gatewayGrant(file)).as(text).isZero();
        assertThat(gatewayGrant(file)).as(text).isZero();
        assertThat(text).contains("no change needed").doesNotContain("more than needed");
        assertThat(asRoot(source, "role", "get", "reader")).contains("[app/, app0)");
        assertThat(asRoot(source, "role", "get", "reader").lines().filter(line -> line.contains("app/")))
                .as("read, not write")
                .hasSize(1);
        assertThat(asRoot(source, "user", "get", "reader")).contains("Roles: reader");

        try (Gateway gateway = Gateway.start(GatewaySettings.load(file, Map.of(), Map.of()))) {
            HttpRequest ready = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.apiPort() + "/readyz"))
                    .build();
            HttpClient client = HttpClient.newHttpClient();
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            client.send(ready, BodyHandlers.ofString()).statusCode())
                    .isEqualTo(200));
        }

        assertThat(gatewayGrant(file, "--set=source.user=root:secret")).isEqualTo(2);
        assertThat(text).contains("source: user contains ':'");

        // Repaired, and what was granted by hand is named.
        Files.writeString(ownPassword, "changed\n");
        asRoot(source, "role", "grant-permission", "reader", "readwrite", "other");
        assertThat(gatewayGrant(file)).as(text).isZero();
        assertThat(text).contains("set the configured password", "role reader has more than needed: READWRITE");
        assertThat(source.etcdctl("--user=reader:changed", "get", "app/a")).isEmpty();
    }

    @Test
    void aGatewayWithAStandbyReadsBothPrimaryRecords() throws Exception {
        Path file = Files.writeString(folder.resolve("gateway.yaml"), """
                source:
                  endpoints: %s
                  user: reader
                  passwordFile: %s
                  mirror: dr
                  standby: {endpoints: %s, user: reader, passwordFile: %s}
                range: {prefix: app/}
                """.formatted(
                source.clientUrls().get(0), ownPassword, target.clientUrls().get(0), ownPassword));
        String[] standby = {"--standby-user=root", "--standby-password-file=" + rootPassword};

        assertThat(gatewayGrant(file, standby)).as(text).isZero();
        assertThat(gatewayGrant(file, standby)).as(text).isZero();
        assertThat(text).contains("no change needed").doesNotContain("more than needed");
        for (LocalEtcd cluster : List.of(source, target)) {
            assertThat(asRoot(cluster, "role", "get", "reader"))
                    .containsSubsequence("KV Read:", "understudy/home/dr", "[app/, app0)", "KV Write:")
                    .doesNotContainPattern("(?s)KV Write:.*(understudy|app)");
        }
    }

    @Test
    void aSwitchoverWritesItsFeedRange() throws Exception {
        Path file = Files.writeString(folder.resolve("mirror.yaml"), """
                mirrors:
                  dr:
                    source: {endpoints: %s, user: mirror, passwordFile: %s}
                    marked: false
                    include: [/in/]
                    target: {etcd: {endpoints: %s, user: mirror, passwordFile: %s}}
                """.formatted(
                source.clientUrls().get(0), ownPassword, target.clientUrls().get(0), ownPassword));
        asRoot(source, "role", "add", "mirror");
        asRoot(source, "role", "grant-permission", "mirror", "write", "/in/", "/in0");

        assertThat(mirrorGrant(file)).as(text).isZero();
        assertThat(denied(source, "put", "/in/a", "1"))
                .as("a write permission stays")
                .isFalse();
        assertThat(denied(source, "get", "/in/a")).isFalse();

        assertThat(mirrorGrant(file, "--switchover")).as(text).isZero();
        assertThat(denied(target, "put", "/in/a", "1")).isFalse();
        assertThat(mirrorGrant(file, "--switchover")).as(text).isZero();
        assertThat(text).contains("no change needed").doesNotContain("more than needed");
    }

    @Test
    void aMirrorRunsWithItsGrants() throws Exception {
        Path file = Files.writeString(folder.resolve("mirror.yaml"), """
                status: {listen: 127.0.0.1:0}
                mirrors:
                  dr:
                    source: {endpoints: %s, user: mirror, passwordFile: %s}
                    include: [/in/]
                    target: {etcd: {endpoints: %s, user: mirror, passwordFile: %s}}
                """.formatted(
                source.clientUrls().get(0), ownPassword, target.clientUrls().get(0), ownPassword));

        assertThat(mirrorGrant(file, "--dry-run")).as(text).isZero();
        assertThat(asRoot(source, "role", "list")).doesNotContain("mirror");
        assertThat(mirrorGrant(file)).as(text).isZero();
        assertThat(mirrorGrant(file)).as(text).isZero();
        assertThat(text).contains("no change needed").doesNotContain("more than needed");

        asRoot(source, "put", "/in/a", "1");
        asRoot(source, "put", "/out/a", "1");
        try (MirrorProcess mirror = MirrorProcess.start(MirrorConfiguration.load(file, Map.of(), Map.of()))) {
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(asRoot(target, "get", "/in/a"))
                    .as("%s", mirror.reports())
                    .contains("/in/a"));
        }
        assertThat(denied(source, "put", "/in/b", "1")).isTrue();
        assertThat(denied(source, "get", "/out/a")).isTrue();
        assertThat(denied(target, "get", "/out/a")).isTrue();

        assertThat(mirrorGrant(file, "--switchover")).as(text).isZero();
        assertThat(denied(source, "put", "/in/b", "1")).isFalse();
        assertThat(denied(source, "get", "/out/a")).isTrue();
        assertThat(denied(target, "put", "/out/a", "1")).isTrue();
        assertThat(mirrorGrant(file, "--switchover")).as(text).isZero();
        assertThat(text).contains("no change needed").doesNotContain("more than needed");
    }

    @Test
    void nothingIsChangedBeforeBothClustersHaveBeenRead() throws Exception {
        String mirror = """
                mirrors:
                  dr:
                    source: {endpoints: %s, user: mirror, passwordFile: %s}
                    include: [/in/]
                    target: {etcd: {endpoints: %s}}
                """;
        String targetUrl = target.clientUrls().get(0).toString();
        Path file = folder.resolve("mirror.yaml");

        Files.writeString(file, mirror.formatted(source.clientUrls().get(0), ownPassword, targetUrl));
        assertThat(mirrorGrant(file)).as(text).isEqualTo(2);
        assertThat(text).contains("target.etcd.user is missing");
        assertThat(asRoot(source, "role", "list")).doesNotContain("mirror");

        String user = ", user: mirror, passwordFile: ";
        Files.writeString(
                file,
                mirror.formatted(source.clientUrls().get(0), ownPassword, "http://127.0.0.1:1" + user + ownPassword));
        assertThat(mirrorGrant(file, "--timeout=1s")).as(text).isEqualTo(1);
        assertThat(asRoot(source, "role", "list")).doesNotContain("mirror");

        // bcrypt, by which etcd stores passwords, takes 72 bytes.
        Path tooLong = Files.writeString(folder.resolve("long.password"), "x".repeat(80));
        Files.writeString(file, mirror.formatted(source.clientUrls().get(0), ownPassword, targetUrl + user + tooLong));
        assertThat(mirrorGrant(file)).as(text).isEqualTo(1);
        assertThat(text)
                .containsPattern("source +create role mirror +yes")
                .containsPattern("target.etcd +create role mirror +yes")
                .containsPattern("target.etcd +create user mirror with the configured password +no");
        assertThat(asRoot(source, "user", "list")).contains("mirror");
    }

    private LocalEtcd secured(String name) {
        LocalEtcd cluster = LocalEtcd.builder()
                .name(name)
                .fsync(false)
                .dataDirectory(folder.resolve(name))
                .build();
        cluster.start();
        cluster.enableAuthentication(ROOT);
        return cluster;
    }

    private int gatewayGrant(Path file, String... more) {
        return run(
                Stream.of("gateway", "grant", "--config=" + file, "--user=root", "--password-file=" + rootPassword),
                more);
    }

    private int mirrorGrant(Path file, String... more) {
        return run(
                Stream.of(
                        "mirror",
                        "grant",
                        "--config=" + file,
                        "--source-user=root",
                        "--source-password-file=" + rootPassword,
                        "--target-user=root",
                        "--target-password-file=" + rootPassword),
                more);
    }

    private int run(Stream<String> command, String... more) {
        StringWriter both = new StringWriter();
        PrintWriter writer = new PrintWriter(both, true);
        int status = Understudy.run(
                writer, writer, Stream.concat(command, Stream.of(more)).toArray(String[]::new));
        text = both.toString();
        assertThat(text).doesNotContain("secret");
        return status;
    }

    private static String asRoot(LocalEtcd cluster, String... command) {
        return cluster.etcdctl(Stream.concat(Stream.of("--user=root:" + ROOT), Stream.of(command))
                .toArray(String[]::new));
    }

    private static boolean denied(LocalEtcd cluster, String... command) {
        try {
            cluster.etcdctl(Stream.concat(Stream.of("--user=mirror:secret"), Stream.of(command))
                    .toArray(String[]::new));
            return false;
        } catch (RuntimeException e) {
            assertThat(e).hasMessageContaining("permission denied");
            return true;
        }
    }
}
