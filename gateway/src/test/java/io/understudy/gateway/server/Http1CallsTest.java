package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.gateway.caller.Principal;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Requests of plain HTTP/1: answered in order, each by its own answer, with the token that it carries. */
@Timeout(120)
final class Http1CallsTest {

    private final CalledServer server = new CalledServer();

    @AfterEach
    void stop() throws InterruptedException {
        server.close();
    }

    @Test
    void requestsOfHttp1ThatWereSentTogetherAreAnsweredInOrder() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            String requests = "GET /a HTTP/1.1\r\nhost: x\r\n\r\n".repeat(100)
                    + "GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            socket.getOutputStream().write(requests.getBytes(StandardCharsets.US_ASCII));
            List<String> bodies = new BufferedReader(
                            new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                    .lines()
                    .filter(line -> line.startsWith("/"))
                    .toList();
            assertThat(bodies).hasSize(101).startsWith("/a 1", "/a 2").endsWith("/a 100", "/last 101");
        }
    }

    /** Netty reads 16 times otherwise, and thousands of requests come before those of other connections. */
    @Test
    void aConnectionIsReadOncePerTurnOfItsEventLoop() throws IOException {
        String request = "GET /a HTTP/1.1\r\nhost: x\r\npad: " + "x".repeat(1_000) + "\r\n\r\n";
        assertThat(server.linesFor(request.repeat(900) + "GET /last HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))
                .endsWith("/last 901");
        assertThat(server.mostPagesPerTurn).isBetween(2, (64 << 10) / 1_000 + 1);
    }

    @Test
    void aRequestThatExpectsContinueDoesNotTakeTheNextAnswer() throws IOException {
        List<String> lines = server.linesFor(String.join(
                "\r\n",
                "GET /a HTTP/1.1",
                "host: x",
                "expect: 100-continue",
                "",
                "HEAD /b HTTP/1.1",
                "host: x",
                "",
                "GET /c HTTP/1.1",
                "host: x",
                "connection: close",
                "",
                ""));
        assertThat(lines).startsWith("HTTP/1.1 100 Continue", "", "HTTP/1.1 200 OK");
        assertThat(lines.stream().filter(line -> line.startsWith("/"))).containsExactly("/a 1", "/c 3");
    }

    @Test
    void aFailedAnswerIsAnError() throws IOException {
        assertThat(server.linesFor("GET /broken HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n"))
                .startsWith("HTTP/1.1 500 Internal Server Error");
    }

    @Test
    void tokensAreReadFromTheHeadersOfGrpcGateway() throws IOException {
        String end = "host: x\r\nconnection: close\r\n\r\n";
        List<String> both =
                server.linesFor("GET /a HTTP/1.1\r\ngrpc-metadata-token: one\r\nauthorization: two\r\n" + end);
        List<String> one = server.linesFor("GET /b HTTP/1.1\r\nauthorization: two\r\n" + end);
        List<String> none = server.linesFor("GET /c HTTP/1.1\r\ntoken: three\r\n" + end);
        assertThat(both).contains("/a 1");
        assertThat(one).contains("/b 2");
        assertThat(none).contains("/c 3");
        assertThat(server.principals)
                .containsExactly(new Principal.Token("one"), new Principal.Token("two"), Principal.ANONYMOUS);
    }

    @Test
    void aBodyBeyondTheLimitIsRejected() throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.getOutputStream()
                    .write("POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 100000000\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            byte[] part = new byte[1 << 20];
            for (int i = 0; i < 9; i++) {
                socket.getOutputStream().write(part);
            }
            assertThat(new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))
                            .readLine())
                    .isEqualTo("HTTP/1.1 413 Request Entity Too Large");
        }
        assertThat(server.pages).hasValue(0);
    }
}
