package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.understudy.config.HostPort;
import io.understudy.local.certificate.Certificates;
import io.understudy.local.process.Command;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.ListenerSecurity;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * TLS on every side: an etcd that requires client certificates, and a gateway that does too.
 *
 * <p>Tests invariants T1, T2.
 */
@Timeout(120)
final class TlsIT {

    /** Much shorter than settings allow, for many reloads in little time. */
    private static final Duration INTERVAL = Duration.ofMillis(20);

    private static final int RELOADS = "long".equals(System.getProperty("understudy.schedule")) ? 100 : 10;
    private static final ByteString KEY = ByteString.copyFromUtf8("script");

    @TempDir
    static Path folder;

    private static Certificates.Pair ours;
    private static Certificates.Pair guest;
    /** The certificates that the gateway shows in turn. */
    private static List<Certificates.Pair> shown;

    private static CertifiedEtcd source;
    private static Gateway gateway;

    @BeforeAll
    static void start() throws Exception {
        Certificates certificates = new Certificates(folder);
        ours = certificates.make("ours", "EC");
        guest = certificates.make("guest", "EC");
        shown = List.of(certificates.make("gateway", "EC"), certificates.make("renewed", "RSA"));
        Path unused = CertifiedEtcd.together(folder.resolve("shown.crt"), shown.get(0), shown.get(1));
        Certificates.Pair nameless = certificates.makeNameless("nobody", "EC");
        source = new CertifiedEtcd(folder, certificates, ours, nameless);
        source.cluster.etcdctl("put", "script", "line");
        show(shown.get(0));
        SourceSettings.Etcd cluster = new SourceSettings.Etcd(source.settings(ours), source.files(nameless));
        gateway = Gateway.start(GatewaySettings.of("test", new HostPort("127.0.0.1", 0), cluster)
                .with(new ListenerSecurity(
                        new TlsFiles(
                                guest.certificate(),
                                folder.resolve("server.crt"),
                                folder.resolve("server.key"),
                                INTERVAL),
                        ClientCertificates.REQUIRED,
                        false)));
        await().atMost(PATIENCE)
                .until(() -> page(gateway.apiPort(), "/readyz", HttpClient.Version.HTTP_2)
                                .statusCode()
                        == 200);
    }

    @AfterAll
    static void stop() {
        if (gateway != null) {
            gateway.close();
        }
        if (source != null) {
            source.close();
        }
    }

    @Test
    void etcdctlReadsWithACertificateAndNotWithout() {
        assertThat(etcdctl("--cert=" + guest.certificate(), "--key=" + guest.key(), "get", "script"))
                .isEqualTo("script\nline\n");

        assertThatThrownBy(() -> etcdctl("get", "script", "--command-timeout=2s"))
                .hasMessageMatching("(?s).*(certificate required|bad certificate|context deadline exceeded).*");
        assertThatThrownBy(() -> etcdctl(
                        "--cert=" + ours.certificate(), "--key=" + ours.key(), "get", "script", "--command-timeout=2s"))
                .hasMessageMatching("(?s).*(unknown certificate|bad certificate|certificate|deadline).*");
    }

    @Test
    void jetcdReadsWithACertificate() throws Exception {
        try (TlsContext context = context();
                Client client = Client.builder()
                        .endpoints("https://127.0.0.1:" + gateway.apiPort())
                        .sslContext(context.forGrpc())
                        .build()) {
            assertThat(client.getKVClient()
                            .get(ByteSequence.from(KEY))
                            .get(30, TimeUnit.SECONDS)
                            .getKvs())
                    .hasSize(1);
        }
    }

    @Test
    void pagesAndRestAreServedOverBothVersionsOfHttp() throws Exception {
        for (HttpClient.Version version : HttpClient.Version.values()) {
            assertThat(page(gateway.apiPort(), "/version", version).body()).contains("understudy");
            HttpResponse<String> key = page(gateway.restPort(), "/v1/kv/script", version);
            assertThat(key.body()).contains("\"value\":\"line\"");
            assertThat(key.version()).isEqualTo(version);
        }
    }

    @Test
    void aStreamFromAFutureRevisionDelaysNoReadOfItsConnection() throws Exception {
        try (TlsContext context = context()) {
            HttpClient client = context.applyTo(HttpClient.newBuilder().version(HttpClient.Version.HTTP_2))
                    .build();
            String rest = "https://127.0.0.1:" + gateway.restPort() + "/v1/";
            HttpResponse<InputStream> stream = client.send(
                    HttpRequest.newBuilder(URI.create(rest + "watch?prefix=a&revision=9000000000000000000"))
                            .build(),
                    BodyHandlers.ofInputStream());
            try (InputStream body = stream.body()) {
                assertThat(body.read()).isPositive();
                assertThat(client.send(
                                        HttpRequest.newBuilder(URI.create(rest + "kv/script?consistency=serializable"))
                                                .timeout(PATIENCE)
                                                .build(),
                                        BodyHandlers.ofString())
                                .body())
                        .contains("\"value\":\"line\"");
            }
        }
    }

    @Test
    void restIsNotServedToClientsWithoutACertificate() {
        HttpClient anonymous = TlsContext.of(new TlsFiles(folder.resolve("shown.crt"), null, null))
                .applyTo(HttpClient.newBuilder())
                .build();

        assertThatThrownBy(() -> anonymous.send(
                        HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + gateway.restPort() + "/v1/kv/script"))
                                .build(),
                        BodyHandlers.ofString()))
                .isInstanceOf(IOException.class);
    }

    @Test
    void newConnectionsSeeRenewedCertificatesWhileAWatchContinues() throws Exception {
        try (TlsContext context = context()) {
            ManagedChannel channel = channel(context);
            try (WatchClient watch = new WatchClient(channel)) {
                watch.send(WatchRequest.newBuilder()
                        .setCreateRequest(WatchCreateRequest.newBuilder().setKey(KEY))
                        .build());
                await().atMost(PATIENCE).until(() -> !watch.received().isEmpty());
                for (int i = 1; i <= RELOADS; i++) {
                    Certificates.Pair next = shown.get(i % shown.size());
                    show(next);
                    await().atMost(PATIENCE).pollInterval(INTERVAL).until(() -> shownBy(gateway.apiPort())
                            .equals(name(next)));
                }
                assertThat(shownBy(gateway.restPort())).isEqualTo(name(shown.get(RELOADS % shown.size())));

                Files.writeString(folder.resolve("server.key"), "broken");
                await().atMost(PATIENCE).until(() -> reloads("failed") > 0);
                assertThat(shownBy(gateway.apiPort())).isEqualTo(name(shown.get(RELOADS % shown.size())));
                show(shown.get(0));

                source.cluster.etcdctl("put", "script", "line");
                await().atMost(PATIENCE).until(() -> watch.received().size() == 2);
                assertThat(watch.received().get(1).getEventsList()).hasSize(1);
                assertThat(watch.status()).isNull();
                assertThat(reloads("ok")).isGreaterThanOrEqualTo(RELOADS);
            } finally {
                channel.shutdownNow();
            }
        }
    }

    private static double reloads(String outcome) throws Exception {
        String counter = "understudy_tls_reloads_total{name=\"listener\",outcome=\"" + outcome + "\",";
        return page(gateway.apiPort(), "/metrics", HttpClient.Version.HTTP_2)
                .body()
                .lines()
                .filter(line -> line.startsWith(counter))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    /** The gateway's files, each replaced at once, but not both together. */
    private static void show(Certificates.Pair pair) throws IOException {
        replace(pair.certificate(), "server.crt");
        replace(pair.key(), "server.key");
    }

    private static void replace(Path what, String as) throws IOException {
        Path beside = Files.copy(what, folder.resolve(as + ".new"), StandardCopyOption.REPLACE_EXISTING);
        Files.move(beside, folder.resolve(as), StandardCopyOption.ATOMIC_MOVE);
    }

    private static String name(Certificates.Pair pair) {
        return "CN=" + pair.certificate().getFileName().toString().replace(".crt", "");
    }

    /** The subject of the certificate that a new connection receives. */
    private static String shownBy(int port) throws Exception {
        return page(port, "/", HttpClient.Version.HTTP_1_1)
                .sslSession()
                .orElseThrow()
                .getPeerPrincipal()
                .getName();
    }

    private static TlsContext context() {
        return TlsContext.of(new TlsFiles(folder.resolve("shown.crt"), guest.certificate(), guest.key()));
    }

    private static ManagedChannel channel(TlsContext context) {
        return NettyChannelBuilder.forAddress("127.0.0.1", gateway.apiPort())
                .sslContext(context.forGrpc())
                .build();
    }

    /** Reads a page by a connection of its own. */
    private static HttpResponse<String> page(int port, String path, HttpClient.Version version)
            throws IOException, InterruptedException {
        try (TlsContext context = context()) {
            return context.applyTo(HttpClient.newBuilder().version(version))
                    .build()
                    .send(
                            HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path))
                                    .timeout(Duration.ofSeconds(30))
                                    .build(),
                            BodyHandlers.ofString());
        }
    }

    private static String etcdctl(String... arguments) {
        List<String> line = new ArrayList<>(List.of(
                GatewayFixture.ETCDCTL.toString(),
                "--endpoints=https://127.0.0.1:" + gateway.apiPort(),
                "--cacert=" + folder.resolve("shown.crt")));
        Stream.of(arguments).forEach(line::add);
        return Command.of(line).run(Duration.ofSeconds(30));
    }
}
