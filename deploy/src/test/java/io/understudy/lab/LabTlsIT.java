package io.understudy.lab;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import io.understudy.lab.ports.LabPort;
import io.understudy.lab.ports.LabPorts;
import io.understudy.local.process.FreePorts;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A lab all of whose parts speak TLS. */
final class LabTlsIT {

    @TempDir
    private static Path folder;

    @Test
    void everyPartSpeaksTlsAndOnlyWithThoseItKnows() throws Exception {
        try (FreePorts reserved = FreePorts.take(LabPort.values().length)) {
            Map<LabPort, Integer> chosen = new EnumMap<>(LabPort.class);
            for (LabPort port : LabPort.values()) {
                chosen.put(port, reserved.get(chosen.size()));
            }
            LabPorts ports = new LabPorts(chosen);
            Path data = folder.resolve("data");
            try (RunningLab lab = RunningLab.start("secured", data, ports, "--tls")) {
                JsonNode check = lab.report().path("check");
                assertThat(check).hasSize(6);

                Path pki = data.resolve("pki");
                HttpClient known =
                        client(new TlsFiles(pki.resolve("ca.crt"), pki.resolve("lab.crt"), pki.resolve("lab.key")));
                HttpClient unknown = client(new TlsFiles(pki.resolve("ca.crt"), null, null));
                List<URI> pages = List.of(
                        page("https", ports, LabPort.VOTER_1, "/health"),
                        page("https", ports, LabPort.DR, "/health"),
                        page("https", ports, LabPort.GATEWAY, "/readyz"),
                        page("https", ports, LabPort.GATEWAY_REST, "/v1/status"),
                        page("https", ports, LabPort.MIRROR, "/readyz"));
                for (URI page : pages) {
                    assertThat(get(known, page).statusCode())
                            .as(page.toString())
                            .isEqualTo(200);
                    assertThatThrownBy(() -> get(unknown, page))
                            .as(page.toString())
                            .isInstanceOf(IOException.class);
                }
                assertThatThrownBy(() -> get(known, page("http", ports, LabPort.GATEWAY, "/readyz")))
                        .isInstanceOf(IOException.class);

                lab.interrupt();
                assertThat(lab.awaitExit()).as(lab.output()).isZero();
                lab.assertNothingIsLeft();
            }
            try (RunningLab plain = RunningLab.start("plain", data, ports)) {
                assertThat(plain.awaitExit()).isEqualTo(1);
                assertThat(plain.output()).contains("is of a lab with TLS").contains("--fresh");
            }
        }
    }

    private static URI page(String scheme, LabPorts ports, LabPort port, String path) {
        return URI.create(scheme + "://" + ports.address(port) + path);
    }

    private static HttpClient client(TlsFiles files) {
        try (TlsContext context = TlsContext.of(files)) {
            return context.applyTo(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1))
                    .build();
        }
    }

    private static HttpResponse<String> get(HttpClient client, URI page) throws IOException, InterruptedException {
        return client.send(
                HttpRequest.newBuilder(page).timeout(Duration.ofSeconds(10)).build(), BodyHandlers.ofString());
    }
}
