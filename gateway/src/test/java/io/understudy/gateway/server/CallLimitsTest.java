package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.netty.channel.embedded.EmbeddedChannel;
import io.understudy.gateway.server.ConnectionLimit.AcceptLimit;
import io.vertx.core.Promise;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What a client may keep of the server: how long it is unread or incomplete, and how many connections.
 *
 * <p>Tests invariant S9.
 */
@Timeout(120)
final class CallLimitsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final CalledServer server = new CalledServer(ServerLimits.DEFAULTS.timeouts());

    @AfterEach
    void stop() throws InterruptedException {
        server.close();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "PRI * HTTP",
                "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                "GET /a HT",
                "POST /a HTTP/1.1\r\ncontent-length: 9\r\n\r\nx"
            })
    void incompleteConnectionsAreClosed(String begun) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            socket.getOutputStream().write(begun.getBytes(StandardCharsets.US_ASCII));
            socket.setSoTimeout((int) PATIENCE.toMillis());
            // The settings of HTTP/2 come before that.
            assertThat(socket.getInputStream().readAllBytes()).hasSizeLessThan(100);
        }
    }

    @Test
    void aCallWithAnUnreadAnswerIsEndedAndAnIdleOneIsNot() {
        Promise<Status> idle = Promise.promise();
        ClientCall<byte[], byte[]> waits = server.channel().newCall(CalledServer.ECHO, CallOptions.DEFAULT);
        waits.start(CalledServer.collecting(new ConcurrentLinkedQueue<>(), idle), new Metadata());
        waits.request(2);
        server.answer = server.zeros(64 << 20);
        ClientCall<RangeRequest, byte[]> call = server.channel()
                .newCall(
                        KVGrpc.getRangeMethod().toBuilder(
                                        KVGrpc.getRangeMethod().getRequestMarshaller(), new CalledServer.Bytes())
                                .build(),
                        CallOptions.DEFAULT);
        Promise<Status> end = Promise.promise();
        call.start(CalledServer.collecting(new ConcurrentLinkedQueue<>(), end), new Metadata());
        call.sendMessage(RangeRequest.getDefaultInstance());
        call.halfClose();

        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.ended).containsExactly("CANCELLED"));
        waits.sendMessage(new byte[1]);
        waits.halfClose();
        assertThat(TestServer.get(idle.future()).getCode()).isEqualTo(Status.Code.OK);
    }

    @Test
    void connectionsBeyondTheLimitServeHealthPagesOnly() throws IOException {
        Socket[] open = new Socket[CalledServer.CONNECTIONS];
        for (int i = 0; i < CalledServer.CONNECTIONS; i++) {
            open[i] = new Socket(InetAddress.getLoopbackAddress(), server.port());
            open[i].getOutputStream().write("GET /a HTTP/1.1\r\nhost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(open[i].getInputStream().read()).isEqualTo('H');
        }
        try (Socket idle = new Socket(InetAddress.getLoopbackAddress(), server.port());
                Socket http2 = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            http2.getOutputStream().write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(http2.getInputStream().read()).isEqualTo(-1);
            assertThat(server.linesFor("GET /health HTTP/1.1\r\nhost: x\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 OK")
                    .contains("connection: close");
            assertThat(idle.getInputStream().read()).isEqualTo(-1);
        }
        for (Socket each : open) {
            each.close();
        }
        await().atMost(PATIENCE).untilAsserted(() -> {
            try (Socket another = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
                another.getOutputStream()
                        .write("GET /a HTTP/1.1\r\nhost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                assertThat(another.getInputStream().read()).isEqualTo('H');
            }
        });
    }

    @Test
    void aBurstOfIdleConnectionsLeavesHealthPagesServed() throws IOException {
        List<Socket> burst = new ArrayList<>();
        try {
            for (int i = 0; i < 3 * ConnectionLimit.SPARE; i++) {
                burst.add(new Socket(InetAddress.getLoopbackAddress(), server.port()));
            }
            assertThat(server.linesFor("GET /health HTTP/1.1\r\nhost: x\r\n\r\n"))
                    .startsWith("HTTP/1.1 200 OK");
            // The oldest of those beyond the limit, which made room.
            assertThat(burst.get(CalledServer.CONNECTIONS).getInputStream().read())
                    .isEqualTo(-1);
        } finally {
            for (Socket each : burst) {
                each.close();
            }
        }
    }

    @Test
    void acceptingPausesAtTheConnectionLimit() {
        EmbeddedChannel accepting = new EmbeddedChannel(new AcceptLimit(2));
        EmbeddedChannel first = new EmbeddedChannel();
        EmbeddedChannel second = new EmbeddedChannel();
        assertThat(accepting.writeInbound(first)).isTrue();
        assertThat(accepting.config().isAutoRead()).isTrue();
        assertThat(accepting.writeInbound(second)).isTrue();
        assertThat(accepting.config().isAutoRead()).isFalse();
        assertThat(accepting.inboundMessages()).containsExactly(first, second);
        assertThat(first.close().isSuccess()).isTrue();
        accepting.runPendingTasks();
        assertThat(accepting.config().isAutoRead()).isTrue();
    }

    @Test
    void connectionsAreLimitedByOpenFiles() {
        assertThat(ConnectionLimit.of(100_000, 2, 1 << 20).clients()).isEqualTo(100_000);
        assertThat(ConnectionLimit.of(100_000, 2, 1024)).isEqualTo(new ConnectionLimit(352, 416));
        assertThat(ConnectionLimit.of(100_000, 2, 300)).isEqualTo(new ConnectionLimit(32, 64));
        assertThat(ConnectionLimit.of(100_000, 1, 100).clients()).isEqualTo(ConnectionLimit.SPARE);
    }
}
