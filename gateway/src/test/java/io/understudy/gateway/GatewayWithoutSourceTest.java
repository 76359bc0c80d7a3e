package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.config.Binder;
import io.understudy.config.HostPort;
import io.understudy.etcd.EtcdSettings;
import io.understudy.gateway.server.RawHttp2;
import io.understudy.gateway.server.ServerLimits;
import io.understudy.gateway.server.ServerLimits.LoadLimits;
import io.understudy.local.certificate.Certificates;
import io.understudy.tls.ClientCertificates;
import io.understudy.tls.ListenerSecurity;
import io.understudy.tls.TlsContext;
import io.understudy.tls.TlsFiles;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Limits of clients while no member of the source responds. */
@Timeout(120)
final class GatewayWithoutSourceTest {

    private static final Duration LONG = Duration.ofSeconds(10);

    private static final GatewaySettings SETTINGS = Binder.with(
            GatewaySettings.of("test", new HostPort("127.0.0.1", 0), EtcdSettings.of(URI.create("http://127.0.0.1:1"))),
            "closeTimeout",
            Duration.ofMillis(100));

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    @TempDir
    private Path folder;

    @Test
    void theRateLimitHoldsForRest() throws Exception {
        Certificates.Pair own = new Certificates(folder).make("gateway", "EC");
        try (Gateway gateway = startWithTls(own, new LoadLimits(1_000, 1_000, 1_000, 1, LONG));
                TlsContext context = TlsContext.of(new TlsFiles(own.certificate(), null, null))) {
            HttpClient http2 = context.applyTo(HttpClient.newBuilder()).build();
            int requests = 20;
            long began = System.nanoTime();
            List<String> refused = new ArrayList<>();
            for (int i = 0; i < requests; i++) {
                HttpResponse<String> response = http2.send(get(rest("https", gateway, "/openapi.json")), text());
                if (response.statusCode() == 429) {
                    refused.add(response.body());
                }
                // The rate of a client is known as long as it is connected.
                System.gc();
            }
            long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began);
            assertThat(refused)
                    .hasSizeGreaterThanOrEqualTo((int) Math.max(1, requests - 2 - seconds))
                    .allSatisfy(body -> assertThat(body)
                            .contains("too many requests: client exceeds 1 requests per second (limits.maxRate)"));
            assertThat(refused(gateway, "https", http2, "rate")).isEqualTo(refused.size());
        }
    }

    @Test
    void requestsInFlightOfARestConnectionAreLimited() throws Exception {
        Certificates.Pair own = new Certificates(folder).make("gateway", "EC");
        try (Gateway gateway = startWithTls(own, new LoadLimits(1_000, 1_000, 2, null, LONG));
                TlsContext context =
                        TlsContext.of(new TlsFiles(own.certificate(), null, null, TlsFiles.DEFAULT_RELOAD_INTERVAL))) {
            HttpClient http2 = context.applyTo(HttpClient.newBuilder()).build();
            // Its connection serves all further requests.
            assertThat(http2.send(get(rest("https", gateway, "/openapi.json")), text())
                            .version())
                    .isEqualTo(HttpClient.Version.HTTP_2);
            List<CompletableFuture<HttpResponse<String>>> responses = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                responses.add(http2.sendAsync(
                        HttpRequest.newBuilder(rest("https", gateway, "/v1/kv/a"))
                                .header("Authorization", "Basic " + base64("user" + i + ":p"))
                                .build(),
                        text()));
            }
            // The client may open its streams in another order.
            await().until(() ->
                    responses.stream().filter(CompletableFuture::isDone).count() >= 2);
            assertThat(responses.stream().filter(CompletableFuture::isDone).map(done -> done.join()
                            .body()))
                    .hasSize(2)
                    .allSatisfy(body -> assertThat(body)
                            .contains("connection exceeds 2 requests in flight (limits.maxInFlightPerConnection)"));
            assertThat(refused(gateway, "https", http2, "connection")).isEqualTo(2);
        }
    }

    @Test
    void handshakesOfRestDoNotRunOnEventLoops() throws Exception {
        Certificates.Pair own = new Certificates(folder).make("gateway", "EC");
        Set<String> shaking = new HashSet<>();
        try (Gateway gateway = startWithTls(own, ServerLimits.DEFAULTS.load());
                TlsContext context = TlsContext.of(new TlsFiles(own.certificate(), null, null))) {
            while (shaking.isEmpty()) {
                // A new client has no session to resume.
                var response = context.applyTo(HttpClient.newBuilder())
                        .build()
                        .sendAsync(get(rest("https", gateway, "/openapi.json")), BodyHandlers.discarding());
                while (!response.isDone()) {
                    Thread.getAllStackTraces().forEach((thread, frames) -> {
                        boolean shakes = Stream.of(frames)
                                .anyMatch(frame -> frame.getClassName().endsWith("$DelegatedTask"));
                        if (shakes && !thread.getName().startsWith("HttpClient")) {
                            shaking.add(thread.getName());
                        }
                    });
                }
            }
        }
        assertThat(shaking).noneMatch(name -> name.contains("eventloop"));
    }

    @Test
    void aLargeJsonBodyDoesNotBlockItsEventLoop() throws Exception {
        try (Gateway gateway = Gateway.start(SETTINGS)) {
            String compare = "{\"compare\":[{}" + ",{}".repeat(300_000) + "]}";
            long began = System.nanoTime();
            HttpResponse<String> response = http.send(
                    HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + gateway.apiPort() + "/v3/kv/txn"))
                            .POST(BodyPublishers.ofString(compare))
                            .build(),
                    text());
            double took = (System.nanoTime() - began) / 1e9;
            assertThat(response.body()).contains("too many operations in txn request");
            assertThat(metric(gateway, "http", http, "understudy_gateway_loop_turns_seconds_max{", ""))
                    .isLessThan(took / 2);
        }
    }

    /** The queue in which its read waits has it until then. */
    @Test
    void aTransactionThatWasResetIsHeldUntilItsReadEnds() throws Exception {
        byte[] txn = TxnRequest.newBuilder()
                .addSuccess(RequestOp.newBuilder()
                        .setRequestRange(RangeRequest.newBuilder().setKey(ByteString.copyFrom(new byte[10_000]))))
                .build()
                .toByteArray();
        // Accepts connections and sends nothing.
        try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
                Gateway gateway = Gateway.start(Binder.with(
                        GatewaySettings.of(
                                "test",
                                new HostPort("127.0.0.1", 0),
                                EtcdSettings.of(URI.create("http://127.0.0.1:" + silent.getLocalPort()))),
                        "closeTimeout",
                        Duration.ofMillis(100)));
                RawHttp2 client = new RawHttp2(gateway.apiPort(), LONG)) {
            client.call(1, "/etcdserverpb.KV/Txn", false, List.of("token", "a.1"));
            client.frame(RawHttp2.DATA, RawHttp2.END_STREAM, 1, RawHttp2.message(txn));
            client.frame(RawHttp2.PING, 0, 0, new byte[8]);
            client.flush();
            assertThat(client.next(RawHttp2.PING)).isNotNull();
            assertThat(held(gateway)).isGreaterThanOrEqualTo(txn.length);
            client.frame(RawHttp2.RST_STREAM, 0, 1, RawHttp2.bytes(8));
            client.frame(RawHttp2.PING, 0, 0, new byte[8]);
            client.flush();
            assertThat(client.next(RawHttp2.PING)).isNotNull();
            assertThat(held(gateway)).isGreaterThanOrEqualTo(txn.length);
            await().atMost(Duration.ofSeconds(60))
                    .untilAsserted(() -> assertThat(held(gateway)).isZero());
        }
    }

    private double held(Gateway gateway) throws Exception {
        return metric(gateway, "http", http, "understudy_gateway_requests_held_bytes", "");
    }

    private static Gateway startWithTls(Certificates.Pair own, LoadLimits load) throws Exception {
        return Gateway.start(SETTINGS.with(Binder.with(ServerLimits.DEFAULTS, load))
                .with(new ListenerSecurity(
                        new TlsFiles(null, own.certificate(), own.key()), ClientCertificates.NONE, false)));
    }

    private static HttpRequest get(URI uri) {
        return HttpRequest.newBuilder(uri).build();
    }

    private static URI rest(String scheme, Gateway gateway, String path) {
        return URI.create(scheme + "://127.0.0.1:" + gateway.restPort() + path);
    }

    private static double refused(Gateway gateway, String scheme, HttpClient client, String reason) throws Exception {
        return metric(
                gateway, scheme, client, "understudy_gateway_requests_refused_total{", "reason=\"" + reason + "\"");
    }

    private static double metric(Gateway gateway, String scheme, HttpClient client, String name, String tag)
            throws Exception {
        URI metrics = URI.create(scheme + "://127.0.0.1:" + gateway.apiPort() + "/metrics");
        return client.send(get(metrics), text())
                .body()
                .lines()
                .filter(line -> line.startsWith(name) && line.contains(tag))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
                .sum();
    }

    private static HttpResponse.BodyHandler<String> text() {
        return BodyHandlers.ofString();
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }
}
