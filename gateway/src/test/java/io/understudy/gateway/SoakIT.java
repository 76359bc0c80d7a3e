package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.understudy.gateway.server.RawHttp2;
import io.understudy.local.certificate.Certificates;
import io.understudy.local.junit.EtcdExtension;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.ListenerSecurity;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections, watches and certificates come and go by the thousand, and leave nothing behind: 100,000, 100,000 and 100 with
 * {@code -Dunderstudy.schedule=long}, a tenth of that otherwise. Clients and gateways share a process, so what either leaves
 * is found.
 *
 * <p>Tests invariant S8.
 */
@Timeout(1_800)
@Tag("schedules")
final class SoakIT {

    private static final Logger LOG = LoggerFactory.getLogger(SoakIT.class);
    private static final boolean LONG = "long".equals(System.getProperty("understudy.schedule"));
    private static final int WATCHES = LONG ? 100_000 : 10_000;
    private static final int RELOADS = LONG ? 100 : 10;
    private static final int BATCH = 100;
    private static final int WARM_UP = 24;
    private static final double MOST = 1.05;
    private static final String WATCH = "/etcdserverpb.Watch/Watch";
    private static final Duration INTERVAL = Duration.ofMillis(20);
    private static final byte[] CREATE = RawHttp2.message(WatchRequest.newBuilder()
            .setCreateRequest(WatchCreateRequest.newBuilder().setKey(ByteString.copyFromUtf8("key")))
            .build()
            .toByteArray());

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    @TempDir
    static Path folder;

    /** The resources of a process after a garbage collection. */
    private record Level(long heapBytes, long descriptors, long threads) {

        static Level now() {
            for (int i = 0; i < 3; i++) {
                System.gc();
            }
            try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
                return new Level(
                        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                        open.count(),
                        ManagementFactory.getThreadMXBean().getThreadCount());
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        boolean isNear(Level before) {
            return heapBytes <= before.heapBytes * MOST
                    && descriptors <= before.descriptors * MOST
                    && threads <= before.threads * MOST;
        }
    }

    @Test
    void connectionsAndWatchesLeaveNothingBehind() throws Exception {
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            soak("connections and watches", WATCHES, BATCH, done -> batch(fixture.gateway.apiPort(), done / BATCH));
            assertThat(watchers(fixture)).isZero();
        }
    }

    @Test
    void reloadedCertificatesLeaveNothingBehind() throws Exception {
        Certificates certificates = new Certificates(folder);
        List<Certificates.Pair> shown = List.of(certificates.make("one", "EC"), certificates.make("other", "EC"));
        show(shown.get(0));
        SSLContext trusting = trustingAll();
        try (Gateway gateway = Gateway.start(GatewayFixture.settings(SOURCE.cluster())
                .with(new ListenerSecurity(
                        new TlsFiles(null, folder.resolve("server.crt"), folder.resolve("server.key"), INTERVAL),
                        ClientCertificates.NONE,
                        false)))) {
            // Vert.x gives each to another thread of its pool until that is full.
            for (int i = 0; i < WARM_UP; i++) {
                reload(shown, i, trusting, gateway.apiPort());
            }
            soak("reloads of certificates", RELOADS, 1, done -> reload(shown, done, trusting, gateway.apiPort()));
        }
    }

    private static void reload(List<Certificates.Pair> shown, int done, SSLContext trusting, int port)
            throws IOException {
        Certificates.Pair next = shown.get((done + 1) % 2);
        show(next);
        String name = "CN=" + next.certificate().getFileName().toString().replace(".crt", "");
        await().atMost(GatewayFixture.PATIENCE).pollInterval(INTERVAL).until(() -> shownBy(trusting, port)
                .equals(name));
    }

    /** A client with a stream for each watch, which closes all of them at once. */
    @Test
    void oneConnectionMayCancelItsWatchesByTheThousand() throws Exception {
        try (GatewayFixture fixture = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            fixture.awaitReady();
            try (RawHttp2 client = new RawHttp2(fixture.gateway.apiPort(), GatewayFixture.PATIENCE)) {
                client.frame(RawHttp2.WINDOW_UPDATE, 0, 0, RawHttp2.bytes(1 << 30));
                int at = 1;
                for (int done = 0; done < WATCHES; done += WATCHES / 10) {
                    for (int i = 0; i < WATCHES / 10; i++) {
                        watch(client, at + 2 * i);
                    }
                    client.flush();
                    created(client, WATCHES / 10);
                    for (int i = 0; i < WATCHES / 10; i++) {
                        client.frame(RawHttp2.RST_STREAM, 0, at + 2 * i, RawHttp2.bytes(8));
                    }
                    client.flush();
                    at += 2 * (WATCHES / 10);
                }
                watch(client, at);
                client.flush();
                created(client, 1);
                await().atMost(GatewayFixture.PATIENCE)
                        .untilAsserted(() -> assertThat(watchers(fixture)).isEqualTo(1));
            }
        }
    }

    @FunctionalInterface
    private interface Step {
        void run(int done) throws Exception;
    }

    private static void soak(String what, int times, int step, Step round) throws Exception {
        Level first = null;
        long began = System.nanoTime();
        for (int done = 0; done < times; done += step) {
            if (done == times / 10) {
                first = Level.now();
            }
            round.run(done);
        }
        Level before = first;
        List<Level> last = new ArrayList<>();
        // The last connections may still be closing.
        await().atMost(Duration.ofSeconds(20))
                .pollInterval(Duration.ofMillis(500))
                .untilAsserted(() -> {
                    Level now = Level.now();
                    last.add(now);
                    assertThat(now.isNear(before))
                            .as("%s after %s", now, before)
                            .isTrue();
                });
        LOG.info(
                "{} of {}: after the first tenth {}, at the end {}, in {} s",
                times,
                what,
                before,
                last.get(last.size() - 1),
                Duration.ofNanos(System.nanoTime() - began).toSeconds());
    }

    /** Connections with a watch each, which end in turn by a reset, by a cancel and by half-closing. */
    static void batch(int port, int round) throws IOException {
        List<RawHttp2> open = new ArrayList<>();
        try {
            for (int i = 0; i < BATCH; i++) {
                RawHttp2 client = new RawHttp2(port, GatewayFixture.PATIENCE);
                open.add(client);
                watch(client, 1);
                client.flush();
            }
            for (RawHttp2 each : open) {
                created(each, 1);
                if (round % 3 == 1) {
                    each.frame(RawHttp2.RST_STREAM, 0, 1, RawHttp2.bytes(8));
                } else if (round % 3 == 2) {
                    each.frame(RawHttp2.DATA, RawHttp2.END_STREAM, 1, new byte[0]);
                }
                each.flush();
            }
        } finally {
            for (RawHttp2 each : open) {
                each.close();
            }
        }
    }

    private static double watchers(GatewayFixture fixture) {
        return Scrape.sum(URI.create("http://127.0.0.1:" + fixture.gateway.apiPort()), "understudy_gateway_watchers");
    }

    private static void watch(RawHttp2 client, int stream) throws IOException {
        client.call(stream, WATCH, false, List.of());
        client.frame(RawHttp2.DATA, 0, stream, CREATE);
    }

    private static void created(RawHttp2 client, int watches) throws IOException {
        for (int i = 0; i < watches; i++) {
            assertThat(client.next(RawHttp2.DATA)).isNotNull();
        }
    }

    private static void show(Certificates.Pair pair) throws IOException {
        replace(pair.certificate(), "server.crt");
        replace(pair.key(), "server.key");
    }

    private static void replace(Path what, String as) throws IOException {
        Path beside = Files.copy(what, folder.resolve(as + ".new"), StandardCopyOption.REPLACE_EXISTING);
        Files.move(beside, folder.resolve(as), StandardCopyOption.ATOMIC_MOVE);
    }

    /** The subject of the certificate that a new connection receives. */
    private static String shownBy(SSLContext trusting, int port) throws IOException {
        try (SSLSocket socket =
                (SSLSocket) trusting.getSocketFactory().createSocket(InetAddress.getLoopbackAddress(), port)) {
            socket.startHandshake();
            return socket.getSession().getPeerPrincipal().getName();
        }
    }

    private static SSLContext trustingAll() throws GeneralSecurityException {
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, new TrustManager[] {new TrustAll()}, null);
        return context;
    }

    private static final class TrustAll extends X509ExtendedTrustManager {
        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {}

        @Override
        public void checkClientTrusted(X509Certificate[] chain, String type) {}

        @Override
        public void checkServerTrusted(X509Certificate[] chain, String type) {}

        @Override
        public X509Certificate[] getAcceptedIssuers() {
            return new X509Certificate[0];
        }
    }
}
