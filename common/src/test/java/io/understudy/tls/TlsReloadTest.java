package io.understudy.tls;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.local.certificate.Certificates;
import java.io.Closeable;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.http.HttpClient;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Both sides of connections, while the files of one or the other are replaced.
 *
 * <p>Tests invariant T2.
 */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
final class TlsReloadTest {

    private static final Duration INTERVAL = Duration.ofMillis(100);

    @TempDir
    static Path made;

    private static Certificates.Pair first;
    private static Certificates.Pair second;
    private static Certificates.Pair ours;
    private static Certificates.Pair stranger;

    @TempDir
    Path used;

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private TlsServer server;
    private TlsContext client;
    private ServerSocket listener;
    /** As a server holds on to it, so that sessions are resumed. */
    private SSLContext accepting;

    @BeforeAll
    static void make() throws Exception {
        Certificates certificates = new Certificates(made);
        first = certificates.make("first", "EC");
        second = certificates.make("second", "EC");
        ours = certificates.make("client", "EC");
        stranger = certificates.make("stranger", "EC");
    }

    @BeforeEach
    void start() throws IOException {
        use(first.certificate(), "server.crt");
        use(first.key(), "server.key");
        use(ours.certificate(), "clients.crt");
        Files.writeString(
                used.resolve("servers.crt"),
                Files.readString(first.certificate()) + Files.readString(second.certificate()));
        use(ours.certificate(), "client.crt");
        use(ours.key(), "client.key");
        server = TlsServer.of(
                new TlsFiles(file("clients.crt"), file("server.crt"), file("server.key"), INTERVAL),
                ClientCertificates.REQUIRED,
                meters);
        accepting = server.platform();
        client = TlsContext.of(
                "source", new TlsFiles(file("servers.crt"), file("client.crt"), file("client.key"), INTERVAL), meters);
        listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        threads.execute(this::accept);
    }

    @AfterEach
    void stop() throws IOException {
        client.close();
        server.close();
        listener.close();
        threads.shutdownNow();
    }

    @Test
    void newConnectionsSeeTheNewCertificateAndOpenOnesStay() throws IOException {
        try (Connection open = connect()) {
            assertThat(open.echo()).isEqualTo("first");

            use(second.certificate(), "server.crt");
            use(second.key(), "server.key");

            await().untilAsserted(() -> assertThat(name()).isEqualTo("second"));
            assertThat(open.echo()).isEqualTo("first");
            assertThat(reloads("listener", "ok")).isGreaterThanOrEqualTo(1);
        }
    }

    @Test
    void unusableFilesAreReportedOnceAndChangeNothing() throws IOException {
        Files.writeString(file("server.crt"), "nonsense");

        await().until(() -> reloads("listener", "failed") > 0);
        await().during(INTERVAL.multipliedBy(4))
                .untilAsserted(() -> assertThat(name()).isEqualTo("first"));
        assertThat(reloads("listener", "failed")).isEqualTo(1);

        Files.delete(file("server.crt"));
        await().until(() -> reloads("listener", "failed") > 1);
        assertThat(name()).isEqualTo("first");

        use(first.certificate(), "server.crt");
        await().until(() -> reloads("listener", "ok") > 0);
        assertThat(name()).isEqualTo("first");
    }

    @Test
    void theKeyOfAnotherCertificateIsNotTaken() throws IOException {
        use(second.key(), "server.key");

        await().until(() -> reloads("listener", "failed") > 0);
        assertThat(name()).isEqualTo("first");
    }

    @Test
    void aClientOfARemovedAuthorityCannotResumeItsSession() throws IOException {
        assertThat(name()).isEqualTo("first");

        use(stranger.certificate(), "clients.crt");

        await().until(() -> reloads("listener", "ok") > 0);
        assertThatThrownBy(this::name).isInstanceOf(IOException.class);
    }

    @Test
    void sessionsOfHandshakesDuringAReloadAreForgottenAtTheNextLook() throws IOException {
        AtomicInteger times = new AtomicInteger();
        TlsFiles files = new TlsFiles(file("clients.crt"), file("server.crt"), file("server.key"), INTERVAL);
        try (ReloadingMaterial material = new ReloadingMaterial("material", files, false, meters)) {
            material.onReload(times::incrementAndGet);

            use(stranger.certificate(), "clients.crt");

            await().until(() -> times.get() == 2);
        }
        assertThat(reloads("material", "ok")).isEqualTo(1);
    }

    @Test
    void aServerOfARemovedAuthorityIsRejected() throws IOException {
        assertThat(name()).isEqualTo("first");

        use(stranger.certificate(), "servers.crt");

        await().until(() -> reloads("source", "ok") > 0);
        assertThatThrownBy(this::name).isInstanceOf(IOException.class);
    }

    @Test
    void aClientShowsItsNewCertificate() throws IOException {
        use(stranger.certificate(), "clients.crt");
        await().until(() -> reloads("listener", "ok") > 0);
        assertThatThrownBy(this::name).isInstanceOf(IOException.class);

        use(stranger.certificate(), "client.crt");
        use(stranger.key(), "client.key");

        await().ignoreExceptions().untilAsserted(() -> assertThat(name()).isEqualTo("first"));
    }

    @Test
    void reportsWhenCertificatesExpire() {
        for (String side : new String[] {"listener", "source"}) {
            // They are made for two days.
            assertThat(meters.get("understudy.tls.expiry")
                            .tag("name", side)
                            .gauge()
                            .value())
                    .isBetween(
                            Duration.ofHours(47).toSeconds() * 1.0,
                            Duration.ofHours(48).toSeconds() * 1.0);
        }
        client.close();
        assertThat(meters.find("understudy.tls.expiry").tag("name", "source").gauge())
                .isNull();
    }

    private double reloads(String side, String outcome) {
        return meters.counter("understudy.tls.reloads", "name", side, "outcome", outcome)
                .count();
    }

    /** As certificate managers do: by renaming. */
    private void use(Path what, String as) throws IOException {
        Path beside = Files.copy(what, used.resolve(as + ".new"), StandardCopyOption.REPLACE_EXISTING);
        Files.move(beside, used.resolve(as), StandardCopyOption.ATOMIC_MOVE);
    }

    private Path file(String name) {
        return used.resolve(name);
    }

    private void accept() {
        while (!listener.isClosed()) {
            try {
                Socket socket = listener.accept();
                threads.execute(() -> serve(socket));
            } catch (IOException e) {
                return;
            }
        }
    }

    private void serve(Socket socket) {
        try (SSLSocket secured =
                (SSLSocket) accepting.getSocketFactory().createSocket(socket, null, socket.getPort(), true)) {
            secured.setUseClientMode(false);
            secured.setSSLParameters(server.parameters());
            secured.getInputStream().transferTo(secured.getOutputStream());
        } catch (IOException e) {
            // The client has seen it as well.
        }
    }

    /** Of the certificate that a new connection is shown; the server has accepted the client's as well. */
    private String name() throws IOException {
        try (Connection connection = connect()) {
            return connection.echo();
        }
    }

    private Connection connect() throws IOException {
        SSLSocket socket = (SSLSocket) client.applyTo(HttpClient.newBuilder())
                .build()
                .sslContext()
                .getSocketFactory()
                .createSocket(listener.getInetAddress(), listener.getLocalPort());
        return new Connection(socket);
    }

    private record Connection(SSLSocket socket) implements Closeable {

        /** Sends something and waits for it; returns the name of the peer that answers. */
        String echo() throws IOException {
            socket.getOutputStream().write(7);
            if (socket.getInputStream().read() != 7) {
                throw new IOException("closed");
            }
            Certificate[] shown = socket.getSession().getPeerCertificates();
            return ((X509Certificate) shown[0])
                    .getSubjectX500Principal()
                    .getName()
                    .replace("CN=", "");
        }

        @Override
        public void close() throws IOException {
            socket.close();
        }
    }
}
