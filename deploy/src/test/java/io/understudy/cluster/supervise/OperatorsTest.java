package io.understudy.cluster.supervise;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.supervise.StateServer.Operators;
import io.understudy.health.PageServer;
import io.understudy.pki.PkiDirectory;
import io.understudy.pki.Subject;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import io.understudy.tls.TlsServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The requests that a supervisor accepts. */
@Timeout(60)
final class OperatorsTest {

    @TempDir
    Path folder;

    @BeforeEach
    void certificates() {
        PkiDirectory pki = new PkiDirectory(folder);
        var authority = pki.init("Test", 0, Duration.ofDays(1));
        var own = pki.issue(
                "own", new Subject(null, List.of("127.0.0.1"), EnumSet.allOf(Subject.Use.class), Duration.ofDays(1)));
        assertThat(List.of(authority, own)).doesNotHaveDuplicates();
    }

    @Test
    void withClientCertificatesOnlyRequestsWithOneAreAccepted() throws Exception {
        assertThat(isAccepted(ClientCertificates.OPTIONAL, true, null)).isTrue();
        assertThat(isAccepted(ClientCertificates.OPTIONAL, false, null)).isFalse();
        assertThat(isAccepted(ClientCertificates.REQUIRED, true, null)).isTrue();
        assertThat(isAccepted(ClientCertificates.NONE, false, null)).isTrue();
    }

    @Test
    void aRequestFromAForeignPageIsRejected() throws Exception {
        assertThat(isAccepted(ClientCertificates.REQUIRED, true, "https://elsewhere.example"))
                .isFalse();
    }

    private boolean isAccepted(ClientCertificates clients, boolean known, String origin) throws Exception {
        Path authority = folder.resolve("ca.crt");
        Path certificate = folder.resolve("own.crt");
        Path key = folder.resolve("own.key");
        TlsFiles listener = new TlsFiles(clients == ClientCertificates.NONE ? null : authority, certificate, key);
        TlsFiles client = known ? new TlsFiles(authority, certificate, key) : new TlsFiles(authority, null, null);
        try (TlsServer tls = TlsServer.of(listener, clients, new SimpleMeterRegistry());
                TlsContext context = TlsContext.of(client)) {
            HttpServer server =
                    PageServer.bind("listen", new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), tls);
            server.createContext("/", exchange -> {
                exchange.sendResponseHeaders(Operators.include(exchange, clients) ? 200 : 403, -1);
                exchange.close();
            });
            server.start();
            try {
                HttpRequest.Builder request = HttpRequest.newBuilder(
                        URI.create("https://127.0.0.1:" + server.getAddress().getPort() + "/pause"));
                if (origin != null) {
                    request.header("Origin", origin);
                }
                return context.applyTo(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1))
                                .build()
                                .send(request.build(), BodyHandlers.discarding())
                                .statusCode()
                        == 200;
            } finally {
                server.stop(0);
            }
        }
    }
}
