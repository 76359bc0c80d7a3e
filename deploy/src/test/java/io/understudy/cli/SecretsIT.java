package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import io.understudy.pki.PkiDirectory;
import io.understudy.pki.Subject;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes with recognisable secrets, at the most verbose log level and amid failures, expose none of them.
 *
 * <p>Tests invariant CF3b.
 */
@Timeout(180)
@Tag("distribution")
final class SecretsIT {

    private static final Path HOME = Path.of(System.getProperty("understudy.distribution"));
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String MARK = "dont-tell-";
    private static final String PASSWORD = MARK + "password";

    @TempDir
    private Path folder;

    private final FreePorts ports = FreePorts.take(5);
    private final List<ServerProcess> processes = new ArrayList<>();
    private final List<String> outputs = new ArrayList<>();
    private LocalEtcd cluster;
    private Path right;
    private Path wrong;
    private Path pki;
    private String key;

    @BeforeEach
    void prepare() throws Exception {
        cluster = LocalEtcd.builder()
                .name("secrets")
                .fsync(false)
                .dataDirectory(folder.resolve("etcd"))
                .build();
        cluster.start();
        cluster.enableAuthentication(PASSWORD);
        right = Files.writeString(folder.resolve("right"), PASSWORD + "\n");
        wrong = Files.writeString(folder.resolve("wrong"), MARK + "wrong\n");
        pki = folder.resolve("pki");
        PkiDirectory directory = new PkiDirectory(pki);
        var authority = directory.init("Test", 0, Duration.ofDays(1));
        var own = directory.issue(
                "own", new Subject(null, List.of("127.0.0.1"), EnumSet.allOf(Subject.Use.class), Duration.ofDays(1)));
        assertThat(authority.certificate()).isNotEqualTo(own.certificate());
        key = Files.readAllLines(own.key()).get(1);
        Files.writeString(
                pki.resolve("broken.key"), "-----BEGIN PRIVATE KEY-----\n" + MARK + "key\n-----END PRIVATE KEY-----\n");
    }

    @AfterEach
    void end() {
        processes.forEach(ServerProcess::close);
        cluster.close();
        ports.close();
    }

    @Test
    void noOutputHasASecret() throws Exception {
        ServerProcess gateway = start("gateway", gateway("own.key", right), "gateway");
        ServerProcess refused = start("refused", mirror(), "mirror");
        ServerProcess supervisor = start("supervisor", supervisor(), "cluster", "supervise");
        ServerProcess broken = start("broken", gateway("broken.key", wrong), "gateway");

        await().atMost(PATIENCE).until(() -> !broken.isAlive());
        assertThat(output(broken)).contains("broken.key");
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(output(refused))
                .contains("authentication failed, invalid user ID or password"));
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(output(supervisor))
                .contains("authentication failed, invalid user ID or password"));
        for (ServerProcess alive : List.of(gateway, refused, supervisor)) {
            outputs.add(Files.readString(
                    Path.of("/proc", Long.toString(alive.pid().orElseThrow()), "cmdline"), StandardCharsets.UTF_8));
        }
        readAllPages();
        processes.forEach(process -> outputs.add(output(process)));

        assertThat(outputs).hasSizeGreaterThan(15).allSatisfy(text -> assertThat(text)
                .doesNotContain(MARK)
                .doesNotContain(base64("root:" + MARK + "guess"))
                .doesNotContain(key));
    }

    private void readAllPages() throws Exception {
        String api = "https://127.0.0.1:" + ports.get(0);
        String rest = "https://127.0.0.1:" + ports.get(1);
        TlsFiles known = new TlsFiles(pki.resolve("ca.crt"), null, null);
        try (TlsContext context = TlsContext.of(known)) {
            HttpClient client = context.applyTo(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1))
                    .build();
            await().atMost(PATIENCE).until(() -> get(client, api + "/readyz", null) == 200);
            String basic = "Basic " + base64("root:" + MARK + "guess");
            for (String user : new String[] {null, MARK + "token.7", "Bearer " + MARK + "token.8", basic}) {
                for (String page : new String[] {
                    api + "/metrics",
                    api + "/config",
                    api + "/readyz?verbose",
                    rest + "/v1/status",
                    rest + "/v1/kv/greeting",
                    rest + "/v1/nothing",
                    api + "/nothing"
                }) {
                    int unused = get(client, page, user);
                }
            }
            assertThat(get(client, rest + "/v1/kv/greeting", basic)).isIn(400, 401, 403);
        }
        HttpClient plain = HttpClient.newHttpClient();
        for (String page : new String[] {"/status", "/metrics", "/readyz"}) {
            int unused = get(plain, "http://127.0.0.1:" + ports.get(2) + page, null);
        }
        for (String page : new String[] {"/state", "/metrics", "/readyz"}) {
            int unused = get(plain, "http://127.0.0.1:" + ports.get(3) + page, null);
        }
    }

    private int get(HttpClient client, String page, String user) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(page)).timeout(Duration.ofSeconds(10));
        if (user != null) {
            request.header("Authorization", user);
        }
        try {
            var answer = client.send(request.build(), BodyHandlers.ofString());
            outputs.add(page + " " + answer.headers().map() + "\n" + answer.body());
            return answer.statusCode();
        } catch (IOException e) {
            // It doesn't listen yet.
            return 0;
        }
    }

    private String gateway(String keyFile, Path password) {
        return """
                listen: 127.0.0.1:%d
                rest: {listen: '127.0.0.1:%d'}
                writes: forward
                tls: {certificate: '%s', key: '%s'}
                source: {endpoints: '%s', user: root, passwordFile: '%s'}
                """.formatted(
                        ports.get(0),
                        ports.get(1),
                        pki.resolve("own.crt"),
                        pki.resolve(keyFile),
                        cluster.clientUrls().get(0),
                        password);
    }

    private String mirror() throws IOException {
        Path kafka = Files.writeString(
                folder.resolve("kafka.properties"),
                "security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\nsasl.jaas.config="
                        + "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"me\" password=\""
                        + MARK + "kafka\";\n");
        URI source = cluster.clientUrls().get(0);
        // By another name, since a mirror into its source is rejected before any request.
        URI target = URI.create("http://localhost:" + source.getPort());
        return """
                status: {listen: '127.0.0.1:%d'}
                mirrors:
                  dr:
                    source: {endpoints: '%s', user: root, passwordFile: '%s'}
                    include: [/in/]
                    rename: {from: /in/, to: /copy/}
                    target: {etcd: {endpoints: '%s', user: root, passwordFile: '%s'}}
                  log:
                    source: {endpoints: '%s', user: root, passwordFile: '%s'}
                    target: {kafka: {bootstrap.servers: '127.0.0.1:%d', propertiesFile: '%s', topic: log}}
                """.formatted(ports.get(2), source, right, target, wrong, source, right, ports.get(4), kafka);
    }

    private String supervisor() {
        return """
                cluster: {endpoints: '%s', user: root, passwordFile: '%s'}
                shape: {voters: 1}
                supervisor: {listen: '127.0.0.1:%d'}
                """.formatted(cluster.clientUrls().get(0), wrong, ports.get(3));
    }

    private ServerProcess start(String name, String configuration, String... command) throws IOException {
        Path file = Files.writeString(folder.resolve(name + ".yaml"), configuration);
        List<String> line = new ArrayList<>(List.of(command));
        line.add("--config=" + file);
        ServerProcess process = new LocalProcesses()
                .prepare(new ServerCommand(
                        name,
                        HOME.resolve("bin/understudy").toAbsolutePath(),
                        line,
                        Map.of("UNDERSTUDY_LOG_LEVEL", "debug"),
                        folder,
                        folder.resolve(name + ".log")));
        processes.add(process);
        process.start();
        return process;
    }

    private static String output(ServerProcess process) {
        return String.join("\n", process.log().tail(Integer.MAX_VALUE));
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
