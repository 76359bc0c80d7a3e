package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.local.certificate.Certificates;
import io.understudy.pki.PkiDirectory;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.Pem;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import io.understudy.tls.TlsServer;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests invariant DP13. */
@Timeout(60)
final class PkiCommandTest {

    private static final String SERVER_USE = "1.3.6.1.5.5.7.3.1";
    private static final String CLIENT_USE = "1.3.6.1.5.5.7.3.2";
    private static final String ALTERNATIVE_NAMES = "2.5.29.17";

    @TempDir
    Path folder;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    @Test
    void serversAndClientsKnowEachOtherByTheAuthority() throws Exception {
        assertThat(pki("init")).isZero();
        assertThat(pki("issue", "server", "--host=127.0.0.1,localhost", "--for=server"))
                .isZero();
        assertThat(pki("issue", "other", "--host=example.org", "--for=server")).isZero();
        assertThat(pki("issue", "guest", "--common-name=guest", "--for=client")).isZero();

        assertThat(nameOfClient("server", "guest")).isEqualTo("CN=guest");
        assertThatThrownBy(() -> nameOfClient("other", "guest"))
                .as("the server is not the host it is taken for")
                .isInstanceOf(IOException.class);
        assertThatThrownBy(() -> nameOfClient("server", "server"))
                .as("a certificate for servers only")
                .isInstanceOf(IOException.class);
    }

    @Test
    void aHostWithABlankIsRefused() {
        assertThat(pki("init")).isZero();
        assertThat(pki("issue", "server", "--host=a, b", "--for=server")).isEqualTo(2);
        assertThat(err.toString()).contains("host is ' b'; allowed: a DNS name or an IP address");
    }

    /** An interrupt ends the write of a file that was created, as a full disk does. */
    @Test
    void aFailedWriteLeavesNoFile() {
        Thread.currentThread().interrupt();
        assertThat(pki("init")).isEqualTo(1);
        assertThat(Thread.interrupted()).isTrue();
        assertThat(folder.resolve("ca.key")).doesNotExist();
        assertThat(pki("init")).as("%s", err).isZero();
    }

    @Test
    void anExistingAuthorityIsReportedWithoutAnException() {
        assertThat(pki("init")).isZero();
        assertThat(pki("init")).isEqualTo(1);
        assertThat(err.toString())
                .contains("ca.crt: file exists and is not overwritten")
                .doesNotContain("java.", "Exception")
                .hasLineCount(1);
    }

    /** As that of kubeadm. */
    @Test
    void anAuthorityMayHaveAnRsaKey() throws Exception {
        var unused = new Certificates(folder).make("ca", "RSA");
        assertThat(pki("issue", "server", "--host=127.0.0.1", "--for=server")).isZero();
        assertThat(pki("issue", "guest", "--common-name=guest", "--for=client")).isZero();

        assertThat(nameOfClient("server", "guest")).isEqualTo("CN=guest");
    }

    @Test
    void anAuthoritySignsForServersAndClientsAndNoFurther() throws Exception {
        assertThat(pki("init", "--common-name=Lab", "--days=30")).isZero();
        assertThat(pki("issue", "member", "--host=::1", "--for=server,client")).isZero();

        X509Certificate authority = certificate("ca");
        assertThat(authority.getSubjectX500Principal().getName()).isEqualTo("CN=Lab");
        assertThat(authority.getBasicConstraints()).isZero();
        assertThat(authority.getPublicKey().getAlgorithm()).isEqualTo("EC");
        X509Certificate member = certificate("member");
        member.verify(authority.getPublicKey());
        assertThat(member.getBasicConstraints()).isEqualTo(-1);
        assertThat(member.getExtendedKeyUsage()).containsExactlyInAnyOrder(SERVER_USE, CLIENT_USE);
        assertThat(member.getNotAfter()).as("no later than the authority").isEqualTo(authority.getNotAfter());
        assertThat(authority.getNotAfter().toInstant())
                .isBetween(
                        Instant.now().plus(Duration.ofDays(29)), Instant.now().plus(Duration.ofDays(30)));
    }

    @Test
    void withoutACommonNameTheSubjectIsEmpty() throws Exception {
        assertThat(pki("init")).isZero();
        assertThat(pki("issue", "nobody", "--host=gateway.example", "--for=client"))
                .isZero();

        X509Certificate withoutSubject = certificate("nobody");
        assertThat(withoutSubject.getSubjectX500Principal().getName()).isEmpty();
        assertThat(withoutSubject.getSubjectAlternativeNames().iterator().next())
                .isEqualTo(List.of(2, "gateway.example"));
        assertThat(withoutSubject.getCriticalExtensionOIDs()).contains(ALTERNATIVE_NAMES);
        assertThat(out.toString()).containsPattern("(?m)^- +\\d");
    }

    @Test
    void keysAreForTheirOwnerOnly() throws Exception {
        assertThat(pki("init")).isZero();
        assertThat(pki("issue", "guest", "--common-name=guest", "--for=client")).isZero();

        for (String name : List.of("ca", "guest")) {
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(folder.resolve(name + ".key"))))
                    .isEqualTo("rw-------");
        }
    }

    @Test
    void nothingIsOverwritten() throws Exception {
        assertThat(pki("init")).isZero();
        assertThat(pki("issue", "guest", "--common-name=guest", "--for=client")).isZero();
        String authority = Files.readString(folder.resolve("ca.key"));
        String guest = Files.readString(folder.resolve("guest.key"));

        assertThat(pki("init")).isEqualTo(1);
        assertThat(err.toString())
                .contains("ca.crt")
                .contains("not overwritten")
                .hasLineCount(1);
        assertThat(pki("issue", "guest", "--common-name=other", "--for=client")).isEqualTo(1);
        assertThat(err.toString()).contains("guest.crt").hasLineCount(1);

        assertThat(folder.resolve("ca.key")).hasContent(authority);
        assertThat(folder.resolve("guest.key")).hasContent(guest);
    }

    @Test
    void whatCouldNotBeWrittenWholeCanBeIssuedAgain() throws Exception {
        assertThat(pki("init")).isZero();
        Path elsewhere = Files.createSymbolicLink(folder.resolve("guest.crt"), folder.resolve("none/guest.crt"));

        assertThat(pki("issue", "guest", "--common-name=guest", "--for=client")).isEqualTo(1);
        assertThat(folder.resolve("guest.key")).doesNotExist();

        Files.delete(elsewhere);
        assertThat(pki("issue", "guest", "--common-name=guest", "--for=client")).isZero();
    }

    @Test
    void withoutAnAuthorityThereIsNothingToIssue() {
        assertThat(pki("issue", "guest", "--common-name=guest", "--for=client")).isEqualTo(1);
        assertThat(err.toString()).contains("ca.crt: no such file").hasLineCount(1);
    }

    @Test
    void anExpiredAuthorityIssuesNothing() {
        var unused = new PkiDirectory(folder).init("Lab", 0, Duration.ofDays(-1));
        assertThat(pki("issue", "guest", "--common-name=guest", "--for=client")).isEqualTo(1);
        assertThat(err.toString()).contains("ca.crt: expired", "pki init").hasLineCount(1);
        assertThat(folder.resolve("guest.key")).doesNotExist();
    }

    @Test
    void theJsonOutputHasWhatWasIssuedButNotTheKey() throws Exception {
        assertThat(pki("init", "--output=json")).isZero();

        JsonNode issued = new JsonMapper().readTree(out.toString());
        assertThat(issued.path("subject").asText()).isEqualTo("CN=Understudy authority");
        assertThat(issued.path("certificate").asText())
                .isEqualTo(folder.resolve("ca.crt").toString());
        assertThat(issued.path("key").asText())
                .isEqualTo(folder.resolve("ca.key").toString());
        assertThat(Instant.parse(issued.path("expires").asText())).isAfter(Instant.now());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "issue",
                "issue server --for=server",
                "issue server --host=server.example",
                "issue guest --for=client",
                "issue server --for=server --host=gateway-1.example:2379",
                "issue server --for=server --host=https://gateway-1",
                "issue ca --common-name=x --for=client",
                "issue ../x --common-name=x --for=client",
                "issue guest --common-name=x --for=everything",
                "issue guest --common-name=x --for=client --days=0",
                "init --days=0",
                "init --path-length=-1"
            })
    void badUsageIsRefusedInOneLine(String arguments) {
        assertThat(pki(arguments.split(" "))).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("understudy pki")
                .contains("--help")
                .hasLineCount(1);
    }

    private int pki(String... arguments) {
        out.getBuffer().setLength(0);
        err.getBuffer().setLength(0);
        List<String> all = new ArrayList<>(List.of("pki"));
        all.addAll(List.of(arguments));
        all.add("--dir=" + folder);
        return Understudy.run(new PrintWriter(out), new PrintWriter(err), all.toArray(String[]::new));
    }

    private X509Certificate certificate(String name) {
        return Pem.certificates(folder.resolve(name + ".crt")).get(0);
    }

    private TlsFiles files(String name) {
        return new TlsFiles(folder.resolve("ca.crt"), folder.resolve(name + ".crt"), folder.resolve(name + ".key"));
    }

    /** Connects, and returns the name of the client as the server reads it. */
    private String nameOfClient(String server, String client) throws Exception {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        try (TlsServer accepting = TlsServer.of(files(server), ClientCertificates.REQUIRED, new SimpleMeterRegistry());
                TlsContext connecting = TlsContext.of(files(client));
                ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            var unused = thread.submit(() -> {
                try (SSLSocket socket = (SSLSocket)
                        accepting.platform().getSocketFactory().createSocket(listener.accept(), null, 0, true)) {
                    socket.setUseClientMode(false);
                    socket.setSSLParameters(accepting.parameters());
                    String name = socket.getSession().getPeerPrincipal().getName();
                    socket.getOutputStream()
                            .write(("HTTP/1.1 200 OK\r\nContent-Length: " + name.length() + "\r\n\r\n" + name)
                                    .getBytes(StandardCharsets.US_ASCII));
                    socket.getInputStream().readAllBytes();
                }
                return null;
            });
            return connecting
                    .applyTo(HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1))
                    .build()
                    .send(
                            HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + listener.getLocalPort() + "/"))
                                    .timeout(Duration.ofSeconds(20))
                                    .build(),
                            BodyHandlers.ofString())
                    .body();
        } finally {
            thread.shutdownNow();
        }
    }
}
