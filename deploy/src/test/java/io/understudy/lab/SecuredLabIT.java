package io.understudy.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import io.understudy.local.process.Command;
import io.understudy.local.process.FreePorts;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A lab with TLS for all parts and authentication in its clusters. Two labs at once need more than two cores to start
 * in time.
 *
 * <p>Tests invariants CF3b, DP11, DP12.
 */
@Tag("distribution")
final class SecuredLabIT {

    private static final Duration COMMANDS = Duration.ofSeconds(60);

    @TempDir
    private static Path folder;

    @Test
    void everyPartRequiresACertificateOfTheLabAndAUser() throws Exception {
        try (FreePorts reserved = FreePorts.take(LabPort.values().length)) {
            Map<LabPort, Integer> chosen = new EnumMap<>(LabPort.class);
            for (LabPort port : LabPort.values()) {
                chosen.put(port, reserved.get(chosen.size()));
            }
            LabPorts ports = new LabPorts(chosen);
            Path data = folder.resolve("data");
            try (RunningLab lab = RunningLab.start("secured", data, ports, "--tls", "--auth")) {
                JsonNode report = lab.report();
                assertThat(report.path("check")).hasSize(6);
                onlyKnownPartsAreAnswered(data, ports);
                onlyUsersMayRead(data, ports);
                passwordsAreForTheirOwner(data);
                hasWhatTheDocumentationLists(data);
                whatItSuggestsWorks(report);

                lab.interrupt();
                assertThat(lab.awaitExit()).as(lab.output()).isZero();
                lab.assertNothingIsLeft();
                assertThat(lab.output()).doesNotContain(passwords(data));
            }
            refusesOtherFlags(data, ports, "of a lab with TLS", "--auth");
            refusesOtherFlags(data, ports, "of a lab with authentication", "--tls");
            try (RunningLab again =
                    RunningLab.start("again", data, ports, "--tls", "--auth", "--no-kafka", "--exit-after-check")) {
                assertThat(again.awaitExit()).as(again.output()).isZero();
            }
        }
    }

    private static void onlyKnownPartsAreAnswered(Path data, LabPorts ports) throws Exception {
        HttpClient known = client(data, "lab");
        HttpClient unknown = client(new TlsFiles(data.resolve("pki/ca.crt"), null, null));
        List<URI> pages = List.of(
                page("https", ports, LabPort.VOTER_1, "/health"),
                page("https", ports, LabPort.DR, "/health"),
                page("https", ports, LabPort.GATEWAY, "/readyz"),
                page("https", ports, LabPort.GATEWAY_REST, "/v1/openapi.json"),
                page("https", ports, LabPort.MIRROR, "/readyz"));
        for (URI page :
                pages.stream().filter(page -> !page.getPath().startsWith("/v1")).toList()) {
            assertThat(get(known, page, null).statusCode()).as(page.toString()).isEqualTo(200);
        }
        for (URI page : pages) {
            assertThatThrownBy(() -> get(unknown, page, null))
                    .as(page.toString())
                    .isInstanceOf(IOException.class);
        }
        assertThatThrownBy(() -> get(known, page("http", ports, LabPort.GATEWAY, "/readyz"), null))
                .isInstanceOf(IOException.class);
    }

    /** The name in a certificate is that of a user with all permissions, but is no login. */
    private static void onlyUsersMayRead(Path data, LabPorts ports) throws Exception {
        URI keys = page("https", ports, LabPort.GATEWAY_REST, "/v1/kv?prefix=");
        String user =
                "lab:" + Files.readString(data.resolve("auth/lab.password")).strip();
        assertThat(get(client(data, "lab"), keys, user).statusCode()).isEqualTo(200);
        assertThat(get(client(data, "lab"), keys, null).statusCode()).isEqualTo(403);
        assertThat(get(client(data, "gateway"), keys, null).statusCode()).isEqualTo(403);
        assertThat(get(client(data, "gateway-clients"), keys, null).statusCode())
                .isIn(400, 401, 403);
        assertThat(get(client(data, "lab"), keys, "lab:wrong").statusCode()).isIn(400, 401, 403);
    }

    private static void passwordsAreForTheirOwner(Path data) throws IOException {
        try (Stream<Path> files = Files.list(data.resolve("auth"))) {
            assertThat(files).hasSize(6).allSatisfy(file -> assertThat(
                            PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                    .isEqualTo("rw-------"));
        }
        for (String file : List.of("gateway/gateway.yaml", "mirror/mirror.yaml", "lab.log", "gateway/gateway.log")) {
            assertThat(Files.readString(data.resolve(file))).as(file).doesNotContain(passwords(data));
        }
    }

    private static void hasWhatTheDocumentationLists(Path data) throws IOException {
        String page = Files.readString(Path.of("../docs/first-steps.md"));
        int begin = page.indexOf("    understudy-lab.properties ");
        List<String> listed = page.substring(begin, page.indexOf("\n\n", begin))
                .lines()
                .map(line -> line.strip().split(" {2,}", 2)[0])
                // From the first to the last of several.
                .flatMap(paths -> Stream.of(paths.split(" … ", -1)))
                .toList();
        assertThat(listed)
                .contains("core/core-1", "core/core-3", "lock")
                .allSatisfy(path -> assertThat(data.resolve(path)).exists());
    }

    private static List<String> passwords(Path data) throws IOException {
        List<String> all = new ArrayList<>();
        for (String user : List.of("root", "supervisor", "gateway", "mirror", "lab")) {
            all.add(Files.readString(data.resolve("auth/" + user + ".password")).strip());
        }
        return all;
    }

    private static void whatItSuggestsWorks(JsonNode report) {
        List<String> commands = new ArrayList<>(List.of("set -e"));
        report.path("hints").forEach(hint -> commands.add(hint.asText()));
        assertThat(commands).hasSizeGreaterThan(6);
        String printed = Command.of(List.of("/bin/sh", "-c", String.join("\n", commands)))
                .run(COMMANDS);
        assertThat(printed)
                .contains("OK\ngreeting\nhello\n", "\"value\":\"hello\"", ": 3 voters, 3 healthy", "mirror dr: equal")
                .contains("Plan:");
    }

    private static void refusesOtherFlags(Path data, LabPorts ports, String cause, String... flags) throws Exception {
        try (RunningLab other = RunningLab.start("other", data, ports, flags)) {
            assertThat(other.awaitExit()).isEqualTo(1);
            assertThat(other.output()).contains(cause).contains("--fresh");
        }
    }

    private static URI page(String scheme, LabPorts ports, LabPort port, String path) {
        return URI.create(scheme + "://" + ports.address(port) + path);
    }

    private static HttpClient client(Path data, String part) {
        Path pki = data.resolve("pki");
        return client(new TlsFiles(pki.resolve("ca.crt"), pki.resolve(part + ".crt"), pki.resolve(part + ".key")));
    }

    private static HttpClient client(TlsFiles files) {
        try (TlsContext context = TlsContext.of(files)) {
            return context.applyTo(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1))
                    .build();
        }
    }

    /** @param user name and password; null for none */
    private static HttpResponse<String> get(HttpClient client, URI page, String user)
            throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(page).timeout(Duration.ofSeconds(10));
        if (user != null) {
            request.header(
                    "Authorization",
                    "Basic " + Base64.getEncoder().encodeToString(user.getBytes(StandardCharsets.UTF_8)));
        }
        return client.send(request.build(), BodyHandlers.ofString());
    }
}
