package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class HealthCommandTest {

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private HttpServer server;

    @BeforeEach
    void start() throws Exception {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        answer("/livez", 200, "ok\n");
        answer("/readyz", 503, "[-]replica failed: not yet\n");
        server.start();
    }

    @AfterEach
    void stop() {
        server.stop(0);
    }

    @Test
    void aProcessThatAnswersWith200IsHealthy() {
        assertThat(health("/livez")).isZero();
        assertThat(out.toString()).isEqualTo("ok" + System.lineSeparator());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ok\n",
                "[+]replica ok\n[+]source excluded: ok\nok\n",
                "{\"health\":\"true\",\"reason\":\"\"}",
                "{\"health\": true}"
            })
    void theAnswersOfTheHealthPagesAreHealthy(String body) {
        answer("/page", 200, body);
        assertThat(run(url("/page"), "--output=json")).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "<html>ok</html>", "[-]replica failed\nok\n", "{\"health\":\"false\"}", "{}", "not ok"})
    void anyOtherPageIsNotHealthy(String body) {
        answer("/page", 200, body);
        assertThat(run(url("/page"))).isEqualTo(1);
        assertThat(err.toString())
                .contains("not healthy: unexpected answer from " + url("/page"))
                .hasLineCount(1);
        assertThat(out.toString()).isEmpty();
    }

    @Test
    void aUrlWithoutAPathIsThatOfTheProcess() {
        assertThat(health("")).isZero();
    }

    @Test
    void anUnhealthyProcessIsReportedWithItsCause() {
        assertThat(health("/readyz")).isEqualTo(1);
        assertThat(err.toString()).contains("/readyz returned HTTP status 503: [-]replica failed: not yet");
    }

    @Test
    void anUnreachableProcessIsUnhealthy() {
        String url = url("/livez");
        server.stop(0);
        assertThat(run(url)).isEqualTo(1);
        assertThat(err.toString()).contains("no response from " + url);
    }

    @Test
    @Timeout(30)
    void theTimeoutIsForTheWholeAnswer() throws Exception {
        CountDownLatch received = new CountDownLatch(1);
        CountDownLatch over = new CountDownLatch(1);
        server.createContext("/slow", exchange -> {
            exchange.sendResponseHeaders(200, 2);
            exchange.getResponseBody().write('o');
            exchange.getResponseBody().flush();
            received.countDown();
            awaitQuietly(over);
            exchange.close();
        });
        // The timeout includes the connection, and the first one of a process takes seconds on a busy machine.
        assertThat(run(url("/livez"), "--timeout=20s")).isZero();
        try {
            assertThat(run(url("/slow"), "--timeout=2s")).isEqualTo(1);
            assertThat(received.await(10, TimeUnit.SECONDS)).isTrue();
        } finally {
            over.countDown();
        }
        assertThat(err.toString()).contains("no response from " + url("/slow") + " within 2000 ms");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"localhost:2379/livez", "/livez", "127.0.0.1:2379", "ftp://127.0.0.1/livez", "http:///livez"})
    void whatIsNoPageIsBadUsage(String url) {
        assertThat(run(url)).isEqualTo(2);
        assertThat(err.toString()).contains(url).hasLineCount(1);
    }

    /** As of a server at the port that is not ours. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "health --url=%s/readyz/page",
                "mirror status --url=%s",
                "mirror translate --revision=1 --url=%s",
                "cluster supervise status --url=%s",
                "cluster supervise pause --url=%s",
                "cluster supervise resume --url=%s"
            })
    void aWebPageOrAClosedPortIsReportedInOneLine(String command) {
        answer("/", 404, "<!DOCTYPE HTML>\n<html><head>\n<title>404</title>\n</html>");
        answer("/readyz/page", 404, "<html>\n<title>404</title>\n</html>");
        String[] words = command.formatted(url("")).split(" ");

        assertThat(Understudy.run(new PrintWriter(out, true), new PrintWriter(err, true), words))
                .isEqualTo(1);
        assertThat(err.toString())
                .contains("returned HTTP status 404 and a web page; check the URL")
                .hasLineCount(1);

        err.getBuffer().setLength(0);
        server.stop(0);
        assertThat(Understudy.run(new PrintWriter(out, true), new PrintWriter(err, true), words))
                .isEqualTo(1);
        assertThat(err.toString())
                .endsWith("connection refused" + System.lineSeparator())
                .doesNotContain("java.", "Exception")
                .hasLineCount(1);
        assertThat(out.toString()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "health --url=%s/silent",
                "mirror status --url=%s",
                "mirror translate --revision=1 --url=%s",
                "cluster supervise status --url=%s",
                "cluster supervise pause --url=%s",
                "cluster supervise resume --url=%s"
            })
    @Timeout(30)
    void aTimeoutIsForAnyProcess(String command) {
        CountDownLatch over = new CountDownLatch(1);
        server.createContext("/", exchange -> {
            awaitQuietly(over);
            exchange.close();
        });
        try {
            String[] words = (command.formatted(url("")) + " --timeout=300ms").split(" ");
            assertThat(Understudy.run(new PrintWriter(out, true), new PrintWriter(err, true), words))
                    .isEqualTo(1);
        } finally {
            over.countDown();
        }
        assertThat(err.toString())
                .contains("no response from " + url(""), "within 300 ms")
                .hasLineCount(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "cluster status --endpoints=%1$s",
                "cluster snapshot save --to=%2$s --endpoints=%1$s",
                "mirror switchover --timeout=1s --dry-run --config=%2$s/mirror.yaml",
                "config check --connect --timeout=1s %2$s/mirror.yaml"
            })
    @Timeout(60)
    void anEndpointThatIsNoEtcdIsReportedInWords(String command, @TempDir Path folder) throws Exception {
        var unused = Files.writeString(folder.resolve("mirror.yaml"), """
                mirrors:
                  dr:
                    source: {endpoints: "http://127.0.0.1:1"}
                    target: {etcd: {endpoints: "%1$s"}}
                """.formatted(url("")));
        if (command.contains("switchover")) {
            // Reads the source first.
            unused = Files.writeString(folder.resolve("mirror.yaml"), """
                    mirrors:
                      dr:
                        source: {endpoints: "%1$s"}
                        target: {etcd: {endpoints: "http://127.0.0.1:1"}}
                    """.formatted(url("")));
        }

        assertThat(Understudy.run(
                        new PrintWriter(out, true),
                        new PrintWriter(err, true),
                        command.formatted(url(""), folder).split(" ")))
                .isEqualTo(1);
        assertThat(err.toString() + out)
                .contains(url(""), "not an etcd endpoint: the server does not support the etcd v3 API (gRPC)")
                .doesNotContain("http2 exception");
    }

    @Test
    @Timeout(30)
    void aTimeoutIsForTheTargetToo(@TempDir Path folder) throws Exception {
        try (ServerSocket silent = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            Path file = Files.writeString(folder.resolve("mirror.yaml"), """
                    mirrors:
                      dr:
                        source: {endpoints: "http://127.0.0.1:1"}
                        target: {etcd: {endpoints: "http://127.0.0.1:%d"}}
                    """.formatted(silent.getLocalPort()));

            assertThat(Understudy.run(
                            new PrintWriter(out, true),
                            new PrintWriter(err, true),
                            "mirror",
                            "translate",
                            "--revision=1",
                            "--timeout=300ms",
                            "--config=" + file))
                    .isEqualTo(1);
        }
        assertThat(err.toString())
                .contains("no response from the target of mirror dr within 300 ms")
                .hasLineCount(1);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private int health(String path) {
        return run(url(path));
    }

    private int run(String url, String... others) {
        return Understudy.run(
                new PrintWriter(out, true),
                new PrintWriter(err, true),
                Stream.concat(Stream.of("health", "--url=" + url), Stream.of(others))
                        .toArray(String[]::new));
    }

    private String url(String path) {
        return "http://127.0.0.1:" + server.getAddress().getPort() + path;
    }

    private void answer(String path, int status, String body) {
        server.createContext(path, exchange -> {
            byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(status, bytes.length);
            try (var stream = exchange.getResponseBody()) {
                stream.write(bytes);
            }
        });
    }
}
