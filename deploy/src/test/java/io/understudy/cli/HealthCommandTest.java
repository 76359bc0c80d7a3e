package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

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
    void healthyIsWhoAnswersWith200() {
        assertThat(health("/livez")).isZero();
        assertThat(out.toString()).isEqualTo("ok" + System.lineSeparator());
    }

    @Test
    void whoIsNotSaysWhy() {
        assertThat(health("/readyz")).isEqualTo(1);
        assertThat(err.toString()).contains("/readyz answers 503: [-]replica failed: not yet");
    }

    @Test
    void nobodyIsNotHealthy() {
        String url = url("/livez");
        server.stop(0);
        assertThat(run(url)).isEqualTo(1);
        assertThat(err.toString()).contains("no answer from " + url);
    }

    private int health(String path) {
        return run(url(path));
    }

    private int run(String url) {
        return Understudy.run(new PrintWriter(out, true), new PrintWriter(err, true), "health", "--url=" + url);
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
