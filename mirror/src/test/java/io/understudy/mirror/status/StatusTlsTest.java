package io.understudy.mirror.status;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.local.certificate.Certificates;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.mirror.revisions.RevisionMap;
import io.understudy.mirror.status.StatusServer.Shown;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.TlsFiles;
import io.understudy.tls.TlsServer;
import io.understudy.vocabulary.Revision;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The status page where clients need certificates.
 *
 * <p>Tests invariant M35.
 */
@Timeout(60)
final class StatusTlsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    static Path folder;

    private static Certificates.Pair mirror;
    private static Certificates.Pair operator;
    private static Certificates.Pair successor;
    private final Path operators = folder.resolve("operators.crt");
    /** The targets respond from then on. */
    private final CountDownLatch responding = new CountDownLatch(1);

    private StatusServer server;

    @BeforeAll
    static void make() throws Exception {
        Certificates certificates = new Certificates(folder);
        mirror = certificates.make("mirror", "EC");
        operator = certificates.make("operator", "EC");
        successor = certificates.make("successor", "EC");
    }

    @BeforeEach
    void start() throws IOException {
        trust(operator);
        TlsServer tls = TlsServer.of(
                new TlsFiles(operators, mirror.certificate(), mirror.key(), Duration.ofMillis(20)),
                ClientCertificates.REQUIRED,
                new SimpleMeterRegistry());
        server = new StatusServer(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), tls, new Shown() {
            @Override
            public List<MirrorShown> mirrors() {
                return List.of();
            }

            @Override
            public ProcessMetrics.Scrape metrics(@Nullable String accept) {
                return new ProcessMetrics.Scrape("text/plain", "");
            }

            @Override
            public Optional<RevisionMap> revisions(String of) {
                try {
                    responding.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
                return Optional.empty();
            }
        });
    }

    @AfterEach
    void stop() {
        server.close();
    }

    @Test
    void onlyClientsWithACertificateAreServed() throws Exception {
        assertThat(client("https", operator).status()).contains("mirrors");

        assertThatThrownBy(() -> client("https", successor).status()).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> client("https", null).status()).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> client("http", null).status()).isInstanceOf(IOException.class);
    }

    @Test
    void aReloadOfTrustedCertificatesRejectsTheOldAndAcceptsTheNew() throws Exception {
        StatusClient before = client("https", operator);
        assertThat(before.status()).contains("mirrors");

        trust(successor);

        await().ignoreExceptions()
                .untilAsserted(
                        () -> assertThat(client("https", successor).status()).contains("mirrors"));
        assertThatThrownBy(() -> client("https", operator).status()).isInstanceOf(IOException.class);
    }

    @Test
    void stalledHandshakesBlockNoOtherClient() throws Exception {
        List<Socket> silent = new ArrayList<>();
        try {
            for (int i = 0; i < 8; i++) {
                Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port());
                silent.add(socket);
                // The head of a record that announces more bytes.
                socket.getOutputStream().write(new byte[] {22, 3, 1, 2, 0, 1});
            }
            assertThat(client("https", operator).status()).contains("mirrors");
        } finally {
            for (Socket socket : silent) {
                socket.close();
            }
        }
    }

    @Test
    void translationsThatWaitForTheirTargetsBlockNoOtherPage() throws Exception {
        int requests = 40;
        AtomicInteger ended = new AtomicInteger();
        StatusClient client = client("https", operator);
        for (int i = 0; i < requests; i++) {
            Thread request = new Thread(() -> {
                assertThatThrownBy(() -> client.translate("dr", new Revision(1)))
                        .isInstanceOf(IOException.class);
                ended.incrementAndGet();
            });
            request.setDaemon(true);
            request.start();
        }
        await().atMost(PATIENCE).until(() -> ended.get() == requests - 16);
        assertThat(client.status()).contains("mirrors");
        responding.countDown();
        await().atMost(PATIENCE).until(() -> ended.get() == requests);
    }

    private void trust(Certificates.Pair pair) throws IOException {
        Path beside =
                Files.copy(pair.certificate(), folder.resolve("operators.new"), StandardCopyOption.REPLACE_EXISTING);
        Files.move(beside, operators, StandardCopyOption.ATOMIC_MOVE);
    }

    private StatusClient client(String scheme, Certificates.Pair own) {
        return new StatusClient(
                URI.create(scheme + "://127.0.0.1:" + server.port()),
                scheme.equals("http")
                        ? null
                        : own == null
                                ? new TlsFiles(mirror.certificate(), null, null)
                                : new TlsFiles(mirror.certificate(), own.certificate(), own.key()));
    }
}
