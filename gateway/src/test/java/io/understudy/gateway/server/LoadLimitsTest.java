package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.Status;
import io.understudy.gateway.server.RawHttp2.Frame;
import io.understudy.gateway.server.ServerLimits.ConnectionTimeouts;
import io.understudy.gateway.server.ServerLimits.LoadLimits;
import io.vertx.core.Promise;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Limits of concurrent requests, of request rates, and of the duration of requests.
 *
 * <p>Tests invariant S6.
 */
@Timeout(120)
final class LoadLimitsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration LONG = Duration.ofSeconds(10);
    private static final String RANGE = "/etcdserverpb.KV/Range";

    private CalledServer server;

    @AfterEach
    void stop() throws InterruptedException {
        server.close();
    }

    @Test
    void requestsInFlightOfAConnectionAreLimited() throws IOException {
        server = new CalledServer(new LoadLimits(100, 50, 3, null, LONG));
        Promise<Void> before = hold();
        try (RawHttp2 client = client();
                RawHttp2 other = client()) {
            for (int i = 0; i < 5; i++) {
                get(client, 2 * i + 1);
            }
            client.flush();
            assertThat(refusal(client))
                    .contains("etcdserver: too many requests: connection exceeds 3 requests in flight");
            assertThat(refusal(client)).contains("3 requests in flight (limits.maxInFlightPerConnection)");
            get(other, 1);
            other.flush();
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(server.callers.size()).isEqualTo(4));
            before.complete();
            assertThat(text(other.next(RawHttp2.HEADERS))).contains("noted");
            assertThat(text(client.next(RawHttp2.HEADERS))).contains("noted");
        }
        assertThat(refused("connection")).isEqualTo(2);
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(gauge("requests.inflight")).isZero());
    }

    @Test
    void requestsAndStreamsInFlightAreLimitedSeparately() throws IOException {
        server = new CalledServer(new LoadLimits(4, 2, 100, null, LONG));
        Promise<Void> before = hold();
        try (RawHttp2 client = client()) {
            client.call(1, "/" + CalledServer.PUSHES, false, List.of());
            client.call(3, "/" + CalledServer.PUSHES, false, List.of());
            get(client, 5);
            get(client, 7);
            client.call(9, "/" + CalledServer.PUSHES, false, List.of());
            client.flush();
            assertThat(refusal(client)).contains("etcdserver: too many requests");
            assertThat(gauge("requests.inflight")).isEqualTo(2);
            assertThat(gauge("calls")).isEqualTo(4);
            // Room again.
            client.frame(RawHttp2.RST_STREAM, 0, 1, RawHttp2.bytes(8));
            client.call(11, "/" + CalledServer.PUSHES, false, List.of());
            // Of the requests there are too many still.
            client.frame(RawHttp2.RST_STREAM, 0, 3, RawHttp2.bytes(8));
            get(client, 13);
            client.flush();
            Frame refused = client.next(RawHttp2.HEADERS);
            assertThat(refused.stream()).isEqualTo(13);
            before.complete();
        }
        assertThat(refused("loop")).isEqualTo(2);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(gauge("calls")).isZero());
    }

    @Test
    void theRateLimitAppliesToAllConnectionsOfAClient() throws IOException {
        server = new CalledServer(new LoadLimits(1_000, 1_000, 1_000, 1, LONG));
        int refused = 0;
        try (RawHttp2 client = client();
                RawHttp2 other = client()) {
            for (RawHttp2 each : List.of(client, other)) {
                for (int i = 0; i < 30; i++) {
                    get(each, 2 * i + 1);
                }
                each.flush();
                refused += refusals(each, 30, "limits.maxRate");
            }
        }
        // One at once, and one for each second that a slow machine takes.
        assertThat(refused).isBetween(30, 59);
        assertThat(refused("rate")).isEqualTo(refused);
    }

    @Test
    void anEndlessRequestBodyIsCancelled() throws Exception {
        server = new CalledServer(new ConnectionTimeouts(Duration.ofSeconds(4), null, LONG, LONG));
        try (RawHttp2 client = client();
                Socket http1 = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            client.call(1, RANGE, false, List.of());
            http1.getOutputStream()
                    .write("POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n"
                            .getBytes(StandardCharsets.US_ASCII));
            client.frame(RawHttp2.DATA, 0, 1, new byte[] {0, 0, 0, 100, 0});
            http1.setSoTimeout(100);
            List<Integer> ends = new ArrayList<>();
            await().atMost(PATIENCE).pollInterval(Duration.ofMillis(300)).untilAsserted(() -> {
                if (ends.isEmpty()) {
                    http1.getOutputStream().write('x');
                    try {
                        assertThat(http1.getInputStream().read()).isEqualTo(-1);
                    } catch (SocketTimeoutException e) {
                        throw new AssertionError("goes on");
                    } catch (IOException e) {
                        // Reset, which is an end as well.
                    }
                    ends.add(1);
                }
                client.frame(RawHttp2.DATA, 0, 1, new byte[1]);
                client.flush();
                assertThat(server.ended).containsExactly("CANCELLED");
            });
        }
        assertThat(closed("stall")).isEqualTo(1);
    }

    @Test
    void memoryOfIncompleteMessagesIsBounded() throws IOException {
        server = new CalledServer();
        try (RawHttp2 client = client()) {
            byte[] part = new byte[10_000];
            System.arraycopy(new byte[] {0, 0, 0, 64, 0}, 0, part, 0, 5);
            // 64 KiB may be held: six, and the next is too much.
            for (int stream = 1; stream < 2 * 8; stream += 2) {
                client.call(stream, RANGE, false, List.of());
                client.frame(RawHttp2.DATA, 0, stream, part);
            }
            client.flush();
            assertThat(refusal(client)).contains("limits.maxHeldBytes");
        }
        assertThat(refused("bytes")).isPositive();
    }

    @Test
    void idleConnectionsAreClosedExceptThoseWithAStream() throws IOException {
        server = new CalledServer(new ConnectionTimeouts(LONG, Duration.ofSeconds(3), LONG, LONG));
        Promise<Status> end = Promise.promise();
        ClientCall<byte[], byte[]> stream = server.channel().newCall(CalledServer.ECHO, CallOptions.DEFAULT);
        stream.start(CalledServer.collecting(new ConcurrentLinkedQueue<>(), end), new Metadata());
        stream.request(2);
        try (RawHttp2 client = new RawHttp2(server.port(), Duration.ofSeconds(60));
                Socket http1 = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            http1.getOutputStream().write("GET /a HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            assertThat(client.next(RawHttp2.GOAWAY)).isNotNull();
            assertThat(http1.getInputStream().readAllBytes()).isNotEmpty();
        }
        assertThat(closed("idle")).isEqualTo(2);
        stream.sendMessage(new byte[1]);
        stream.halfClose();
        assertThat(TestServer.get(end.future()).getCode()).isEqualTo(Status.Code.OK);
    }

    @Test
    void anIdleClientIsPingedAndClosedWithoutAnAnswer() throws IOException {
        server = new CalledServer(new ConnectionTimeouts(LONG, null, Duration.ofSeconds(2), Duration.ofSeconds(2)));
        try (RawHttp2 client = client()) {
            client.call(1, "/" + CalledServer.PUSHES, false, List.of());
            client.flush();
            Frame ping = client.next(RawHttp2.PING);
            client.frame(RawHttp2.PING, RawHttp2.ACK, 0, ping.payload());
            client.flush();
            // The client answers the first ping only.
            assertThat(client.next(RawHttp2.PING)).isNotNull();
            assertThat(client.next()).isNull();
        }
        assertThat(closed("dead")).isEqualTo(1);
    }

    @Test
    void aSlowBurstIsAdmitted() throws IOException {
        // Each request keeps the loop for 2 ms of wall time, as code does that was not compiled yet.
        server = new CalledServer(new LoadLimits(100_000, 100_000, 100_000, null, Duration.ofMillis(50)));
        server.workMillis = 2;
        try (RawHttp2 client = client()) {
            burst(client, 1, 1_000);
            assertThat(refusals(client, 1_000, "etcdserver: too many requests")).isZero();
        }
        assertThat(refused("overload")).isZero();
    }

    @Test
    void aStandingQueueIsCutShort() throws IOException {
        server = new CalledServer(new LoadLimits(100_000, 100_000, 100_000, null, Duration.ofMillis(1)));
        server.workMillis = 1;
        List<RawHttp2> clients = new ArrayList<>();
        try (RawHttp2 light = client()) {
            // Measures the service time.
            burst(light, 1, 50);
            assertThat(refusals(light, 50, "too many")).isZero();
            for (int i = 0; i < 3; i++) {
                RawHttp2 client = client();
                clients.add(client);
                burst(client, 1, 990);
            }
            int refused = 0;
            for (RawHttp2 client : clients) {
                refused += refusals(client, 990, "etcdserver: too many requests");
            }
            assertThat(refused).isPositive();
            assertThat(refused("overload")).isEqualTo(refused);
            burst(light, 101, 1);
            assertThat(refusals(light, 1, "too many")).isZero();
        } finally {
            for (RawHttp2 client : clients) {
                client.close();
            }
        }
    }

    private static void burst(RawHttp2 client, int firstStream, int calls) throws IOException {
        for (int i = 0; i < calls; i++) {
            get(client, firstStream + 2 * i);
        }
        client.flush();
    }

    /** How many of that many calls, all of which are waited for, were refused so. */
    private static int refusals(RawHttp2 client, int calls, String why) throws IOException {
        int refused = 0;
        int ended = 0;
        while (ended < calls) {
            String head = text(client.next(RawHttp2.HEADERS));
            refused += head.contains(why) ? 1 : 0;
            ended += head.contains("grpc-status") ? 1 : 0;
        }
        return refused;
    }

    private RawHttp2 client() throws IOException {
        return new RawHttp2(server.port(), PATIENCE);
    }

    /** Answers wait for it. */
    private Promise<Void> hold() {
        Promise<Void> before = Promise.promise();
        server.before = before.future();
        return before;
    }

    private static void get(RawHttp2 client, int stream) throws IOException {
        client.call(stream, RANGE, false, List.of());
        client.frame(RawHttp2.DATA, RawHttp2.END_STREAM, stream, RawHttp2.message(new byte[0]));
    }

    private static String refusal(RawHttp2 client) throws IOException {
        return text(client.next(RawHttp2.HEADERS));
    }

    private static String text(Frame headers) {
        return new String(headers.payload(), StandardCharsets.ISO_8859_1);
    }

    private double refused(String reason) {
        return server.meters
                .get("understudy.gateway.requests.refused")
                .tag("reason", reason)
                .counter()
                .count();
    }

    private double closed(String reason) {
        return server.meters
                .get("understudy.gateway.connections.closed")
                .tag("reason", reason)
                .counter()
                .count();
    }

    private double gauge(String name) {
        return server.meters.get("understudy.gateway." + name).gauge().value();
    }
}
