package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.net.httpserver.HttpServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

/** What {@code mirror status} shows of what a process answers. */
final class MirrorStatusCommandTest {

    private static final String STATUS = """
            {"mirrors": [
              {"name": "dr", "source": "etcd [http://a:1]", "target": "etcd [http://b:1]", "state": "synced", "ready": true,
               "reason": "", "warnings": ["the target is never compacted", "another one"]},
              {"name": "eu", "source": "etcd [http://a:1]", "target": "etcd [http://c:1]", "state": "synced", "ready": true,
               "reason": "", "warnings": []}]}
            """;

    private static final String TAKE_OVER = """
            {"mirrors": [
              {"name": "dr", "state": "synced", "ready": true, "reason": "",
               "takeOver": {"checkedAt": "2026-01-31T12:00:00Z", "permitted": %s, "note": %s}, "warnings": %s}]}
            """;

    private static final String CONFLICT = """
            {"mirrors": [
              {"name": "dr", "source": "etcd [http://a:1]", "target": "etcd [http://b:1]", "state": "conflict", "ready": false,
               "reason": "both clusters hold the primary role", "warnings": []}]}
            """;

    private final StringWriter out = new StringWriter();

    @Test
    void warningsFollowTheTable() throws Exception {
        assertThat(status(STATUS)).as("a warning is no failure").isZero();
        assertThat(out.toString().lines())
                .hasSize(9)
                .containsSequence(
                        "dr target: etcd [http://b:1]",
                        "dr warning: the target is never compacted",
                        "dr warning: another one");
    }

    @Test
    void missingPermissionsOfATakeOverAreAFailure_andNotSetUpIsNone() throws Exception {
        assertThat(status(TAKE_OVER.formatted(false, null, "[\"take-over not permitted: all\"]")))
                .isOne();
        assertThat(out.toString().lines()).last().isEqualTo("dr warning: take-over not permitted: all");
        assertThat(status(TAKE_OVER.formatted(true, "\"only failover\"", "[]"))).isZero();
        assertThat(out.toString().lines()).last().isEqualTo("dr take-over: only failover");
        assertThat(status(TAKE_OVER.formatted(true, null, "[]"))).isZero();
        assertThat(out.toString().lines()).last().asString().startsWith("dr target:");
    }

    @Test
    void aConflictIsAFailureWithItsReason() throws Exception {
        assertThat(status(CONFLICT)).isOne();
        assertThat(out.toString()).contains("conflict", "dr reason: both clusters hold the primary role");
    }

    private int status(String answer) throws Exception {
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/status", exchange -> {
            byte[] body = answer.getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, body.length);
            exchange.getResponseBody().write(body);
            exchange.close();
        });
        server.start();
        try {
            return Understudy.run(
                    new PrintWriter(out, true),
                    new PrintWriter(new StringWriter()),
                    "mirror",
                    "status",
                    "--url=http://127.0.0.1:" + server.getAddress().getPort());
        } finally {
            server.stop(0);
        }
    }
}
