package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.gateway.server.WebPages.MetricsPage;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The pages beside gRPC, in etcd's form. */
@Timeout(60)
final class WebPagesTest {

    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static TestServer server;

    @BeforeAll
    static void start() {
        server = new TestServer();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @BeforeEach
    void wellAgain() {
        server.problem = Optional.empty();
    }

    @Test
    void readinessIsGreen() throws Exception {
        assertPage("/readyz", 200, "ok\n");
        assertPage("/readyz?verbose", 200, "[+]replica ok\n[+]feed ok\nok\n");
        assertPage("/health", 200, "{\"health\":\"true\",\"reason\":\"\"}");
    }

    @Test
    void readinessFailsWithTheReason() throws Exception {
        server.problem = Optional.of("not yet");
        assertPage("/readyz", 503, "[-]replica failed: not yet\n[+]feed ok\n\n");
        assertPage("/health", 503, "{\"health\":\"false\",\"reason\":\"replica: not yet\"}");
        assertPage("/readyz?exclude=replica", 200, "ok\n");
        assertPage("/readyz/feed", 200, "ok\n");
        assertPage("/readyz/replica", 503, "[-]replica failed: not yet\n\n");
        assertPage("/health?serializable=true", 200, "{\"health\":\"true\",\"reason\":\"\"}");
        assertPage("/livez", 200, "ok\n");
    }

    @Test
    void versionAndMetricsAreServed() throws Exception {
        assertPage("/version", 200, "{\"etcdserver\":\"3.7.3\"}");
        assertPage("/metrics", 200, TestServer.METRICS);
    }

    @Test
    void otherPathsAndMethodsAreRefused() throws Exception {
        assertPage("/nothing", 404, "404 page not found\n");
        HttpResponse<String> post = HTTP.send(
                HttpRequest.newBuilder(server.url("/readyz"))
                        .POST(BodyPublishers.noBody())
                        .build(),
                BodyHandlers.ofString());
        assertThat(post.statusCode()).isEqualTo(405);
    }

    @Test
    void unreadScrapesAreBounded_andCanceledOnesLeaveTheirPlaces() throws Exception {
        ByteArrayOutputStream get = new ByteArrayOutputStream();
        get.write(0x82);
        get.write(0x86);
        RawHttp2.literal(get, 0, ":path", "/metrics");
        RawHttp2.literal(get, 0, ":authority", "a");
        int before = server.scrapes.get();
        try (RawHttp2 client = new RawHttp2(server.port(), Duration.ofSeconds(30))) {
            // No window: no answer leaves the server.
            client.frame(RawHttp2.SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 0});
            for (int stream = 1; stream <= 2 * 500; stream += 2) {
                client.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, stream, get.toByteArray());
            }
            client.flush();
            for (int answers = 0; answers < 500; answers++) {
                assertThat(client.next(RawHttp2.HEADERS)).isNotNull();
            }
            assertThat(server.scrapes.get() - before).isEqualTo(MetricsPage.MAX_SCRAPES / 4);
            assertPage("/metrics", 429, "understudy: too many scrapes; allowed: 32, 8 of one client\n");
            assertThat(metricsFrom("127.0.0.2")).startsWith("HTTP/1.1 200 ");
        }
        await().untilAsserted(() -> assertPage("/metrics", 200, TestServer.METRICS));
    }

    private static String metricsFrom(String address) throws IOException {
        try (Socket socket = new Socket("127.0.0.1", server.port(), InetAddress.getByName(address), 0)) {
            socket.getOutputStream()
                    .write("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
        }
    }

    @Test
    void theSamePagesAreServedOverHttp2() {
        var client = server.vertx.createHttpClient(
                new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false));
        var body = server.onLoop(() -> client.request(HttpMethod.GET, server.port(), "127.0.0.1", "/readyz")
                .compose(request -> request.send().compose(response -> response.body())));
        assertThat(body).hasToString("ok\n");
        // Keeps the client reachable: it would close its connections.
        assertThat(server.onLoop(client::close)).isNull();
    }

    private static void assertPage(String path, int status, String body) throws IOException, InterruptedException {
        HttpResponse<String> response =
                HTTP.send(HttpRequest.newBuilder(server.url(path)).build(), BodyHandlers.ofString());
        assertThat(response.version()).isEqualTo(HttpClient.Version.HTTP_1_1);
        assertThat(response.body()).isEqualTo(body);
        assertThat(response.statusCode()).isEqualTo(status);
    }
}
