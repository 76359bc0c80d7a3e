package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

/** A kube-apiserver and its only user. */
final class KubeApiServer implements AutoCloseable {

    private static final String VERSION = "1.37.2";

    private final FreePorts ports = FreePorts.take(1);
    private final ServerProcess process;
    private final HttpClient http;

    /** With one endpoint of etcd. */
    KubeApiServer(int etcdPort, Path folder) throws Exception {
        this("http://127.0.0.1:" + etcdPort, folder);
    }

    /**
     * Starts one and waits until it is ready; the test is skipped if the program is not cached.
     *
     * @param etcd URLs, separated by commas
     */
    KubeApiServer(String etcd, Path folder, String... more) throws Exception {
        Path program = program();
        assumeTrue(
                Files.isExecutable(program),
                program + " is missing; .ci/kube-apiserver builds it where Go is installed");
        KeyPair pair = KeyPairGenerator.getInstance("RSA").generateKeyPair();
        Path key =
                pem(folder.resolve("sa.key"), "PRIVATE KEY", pair.getPrivate().getEncoded());
        Path publicKey =
                pem(folder.resolve("sa.pub"), "PUBLIC KEY", pair.getPublic().getEncoded());
        Path tokens = Files.writeString(folder.resolve("tokens.csv"), "TOKEN,admin,1,system:masters\n");
        Path certificates = folder.resolve("certificates");
        process = new LocalProcesses()
                .prepare(new ServerCommand(
                        "kube-apiserver",
                        program,
                        Stream.concat(
                                        Stream.of(
                                                "--etcd-servers=" + etcd,
                                                "--bind-address=127.0.0.1",
                                                "--advertise-address=127.0.0.1",
                                                "--secure-port=" + ports.get(0),
                                                "--endpoint-reconciler-type=none",
                                                "--cert-dir=" + certificates,
                                                "--service-account-issuer=https://lab.invalid",
                                                "--service-account-key-file=" + publicKey,
                                                "--service-account-signing-key-file=" + key,
                                                "--service-cluster-ip-range=10.0.0.0/24",
                                                "--token-auth-file=" + tokens,
                                                "--authorization-mode=RBAC",
                                                "--disable-admission-plugins=ServiceAccount"),
                                        Stream.of(more))
                                .toList(),
                        Map.of(),
                        folder,
                        folder.resolve("kube-apiserver.log")));
        try {
            process.start();
            Path certificate = certificates.resolve("apiserver.crt");
            await().atMost(GatewayFixture.PATIENCE).until(() -> Files.exists(certificate));
            http = HttpClient.newBuilder().sslContext(trusting(certificate)).build();
            awaitReady();
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    void awaitReady() {
        await().atMost(GatewayFixture.PATIENCE)
                .ignoreExceptions()
                .until(() -> send("GET", "/readyz", "").statusCode() == 200);
    }

    ServerProcess process() {
        return process;
    }

    private static Path program() {
        String cache = System.getenv("XDG_CACHE_HOME");
        Path base =
                cache == null || cache.isBlank() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(cache);
        return base.resolve(Path.of("understudy", "kubernetes", VERSION, "kube-apiserver"));
    }

    private static Path pem(Path file, String kind, byte[] der) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der);
        return Files.writeString(file, "-----BEGIN " + kind + "-----\n" + text + "\n-----END " + kind + "-----\n");
    }

    private static SSLContext trusting(Path certificates) throws Exception {
        KeyStore store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (InputStream in = Files.newInputStream(certificates)) {
            for (Certificate each : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
                store.setCertificateEntry("server-" + store.size(), each);
            }
        }
        TrustManagerFactory managers = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        managers.init(store);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(null, managers.getTrustManagers(), null);
        return context;
    }

    /** The body of a response, which must be a success. */
    String call(String method, String path, String body) throws IOException, InterruptedException {
        HttpResponse<String> response = send(method, path, body);
        assertThat(response.statusCode()).as(response.body()).isBetween(200, 299);
        return response.body();
    }

    /** The lines of a stream, until {@link #close}. */
    List<String> watch(String path) {
        List<String> lines = new CopyOnWriteArrayList<>();
        CompletableFuture<Void> unused = http.sendAsync(request("GET", path, ""), BodyHandlers.ofLines())
                .thenAccept(response -> response.body().forEach(lines::add));
        return lines;
    }

    /** The lines of a stream as they arrive. */
    HttpResponse<Stream<String>> stream(String path) throws IOException, InterruptedException {
        return http.send(request("GET", path, ""), BodyHandlers.ofLines());
    }

    HttpResponse<String> send(String method, String path, String body) throws IOException, InterruptedException {
        return http.send(request(method, path, body), BodyHandlers.ofString());
    }

    private HttpRequest request(String method, String path, String body) {
        return HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + ports.get(0) + path))
                .timeout(Duration.ofSeconds(60))
                .header("Authorization", "Bearer TOKEN")
                .header("Content-Type", "application/json")
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .build();
    }

    @Override
    public void close() {
        process.close();
        ports.close();
    }
}
