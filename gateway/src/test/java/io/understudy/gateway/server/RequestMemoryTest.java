package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.understudy.gateway.server.RawHttp2.Frame;
import io.vertx.core.Promise;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The memory of requests, complete or not: bounded, and released however they end.
 *
 * <p>Tests invariant S6.
 */
@Timeout(120)
final class RequestMemoryTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String RANGE = "/" + CalledServer.UNARY.getFullMethodName();
    private static final String ECHO = "/" + CalledServer.ECHO.getFullMethodName();
    private static final String PUSHES = "/" + CalledServer.PUSHES;

    private static final int MAX_BYTES = 100_000;
    private static final int REQUEST_BYTES = 30_000;
    private static final int HEAD_BYTES = 60_000;
    /** More than sockets hold. */
    private static final long MUCH_BYTES = 64 << 20;
    /** The same kind of stream again, so that a leak reaches the limit of the connection. */
    private static final int ROUNDS = 10;

    private final CalledServer server = new CalledServer(MAX_BYTES);
    private int nextStream = 1;

    @AfterEach
    void stop() throws InterruptedException {
        server.close();
    }

    @Test
    void requestsThatWaitAreBoundedInTotal() throws IOException {
        Promise<Void> before = Promise.promise();
        server.before = before.future();
        try (RawHttp2 one = client();
                RawHttp2 two = client();
                RawHttp2 three = client();
                Socket http1 = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            for (RawHttp2 each : List.of(one, two, three)) {
                range(each, 1, REQUEST_BYTES);
                each.flush();
            }
            awaitHeld(3 * REQUEST_BYTES);

            post(http1);
            assertThat(statusLine(http1)).isEqualTo("HTTP/1.1 429 Too Many Requests");
            // A connection has its own share too.
            range(one, 3, REQUEST_BYTES);
            one.flush();
            assertThat(text(one.next(RawHttp2.HEADERS))).contains("limits.maxHeldBytes");
            assertThat(refused("total_bytes")).isEqualTo(1);

            before.complete();
            for (RawHttp2 each : List.of(one, two, three)) {
                assertThat(text(each.next(RawHttp2.HEADERS))).contains("noted");
            }
        }
        awaitHeld(0);
        try (RawHttp2 client = client()) {
            range(client, 1, REQUEST_BYTES);
            client.flush();
            assertThat(text(client.next(RawHttp2.HEADERS))).contains("noted");
        }
    }

    @Test
    void aCallBeyondTheTotalIsResourceExhausted() throws IOException {
        Promise<Void> before = Promise.promise();
        server.before = before.future();
        try (RawHttp2 one = client();
                RawHttp2 two = client()) {
            range(one, 1, MAX_BYTES);
            one.flush();
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(held()).isGreaterThanOrEqualTo(MAX_BYTES));
            range(two, 1, REQUEST_BYTES);
            two.flush();
            Frame refusal = two.next(RawHttp2.HEADERS);
            assertThat(text(refusal))
                    .contains("grpc-status")
                    .contains("etcdserver: too many requests: requests exceed the memory for requests");
            before.complete();
        }
    }

    @Test
    void nothingIsHeldAfterStreamsHaveEnded() throws IOException {
        try (RawHttp2 client = client()) {
            for (int i = 0; i < ROUNDS; i++) {
                // Answered.
                range(client, take(), REQUEST_BYTES / 2);
                client.flush();
                awaitEnd(client);
                // Reset within a message.
                int reset = take();
                part(client, RANGE, reset);
                client.frame(RawHttp2.RST_STREAM, 0, reset, RawHttp2.bytes(8));
                // A second message, which is an error.
                int two = take();
                client.call(two, RANGE, false, List.of());
                client.frame(RawHttp2.DATA, 0, two, RawHttp2.message(new byte[REQUEST_BYTES / 4]));
                client.frame(RawHttp2.DATA, 0, two, RawHttp2.message(new byte[REQUEST_BYTES / 4]));
                client.flush();
                awaitEnd(client);
                // Ended within a message.
                int broken = take();
                part(client, RANGE, broken);
                client.frame(RawHttp2.DATA, RawHttp2.END_STREAM, broken, new byte[1]);
                client.flush();
                awaitEnd(client);
                // A deadline within a message.
                int late = take();
                client.call(late, RANGE, false, List.of("grpc-timeout", "20m"));
                client.frame(RawHttp2.DATA, 0, late, part());
                client.flush();
                awaitEnd(client);
                // A stream that takes its messages, and one that takes no more than its first.
                int echo = take();
                client.call(echo, ECHO, false, List.of());
                client.frame(RawHttp2.DATA, 0, echo, RawHttp2.message(new byte[1_000]));
                client.frame(RawHttp2.DATA, RawHttp2.END_STREAM, echo, RawHttp2.message(new byte[1_000]));
                client.flush();
                awaitEnd(client);
                int pushes = take();
                client.call(pushes, PUSHES, false, List.of());
                client.frame(RawHttp2.DATA, 0, pushes, RawHttp2.message(new byte[1_000]));
                client.frame(RawHttp2.DATA, 0, pushes, RawHttp2.message(new byte[1_000]));
                client.frame(RawHttp2.DATA, 0, pushes, part());
                client.frame(RawHttp2.RST_STREAM, 0, pushes, RawHttp2.bytes(8));
                client.frame(RawHttp2.WINDOW_UPDATE, 0, 0, RawHttp2.bytes(1 << 20));
                client.flush();
                awaitHeld(0);
            }
        }
        assertThat(refused("bytes")).isZero();
    }

    @Test
    void emptyMessagesThatWaitAreHeld() throws IOException {
        try (RawHttp2 client = client()) {
            client.call(1, PUSHES, false, List.of());
            for (int i = 0; i < 200; i++) {
                client.frame(RawHttp2.DATA, 0, 1, RawHttp2.message(new byte[0]));
            }
            client.flush();
            await().atMost(PATIENCE).until(() -> held() > 10_000);
        }
        awaitHeld(0);
    }

    /** The queue in which they wait has them until then. */
    @Test
    void waitingCallsThatWereResetAreHeldUntilTheirWorkEnds() throws IOException {
        Promise<Void> before = Promise.promise();
        server.before = before.future();
        try (RawHttp2 client = client()) {
            int stream = take();
            range(client, stream, REQUEST_BYTES / 2);
            client.flush();
            awaitHeld(REQUEST_BYTES / 2);
            client.frame(RawHttp2.RST_STREAM, 0, stream, RawHttp2.bytes(8));
            range(client, take(), REQUEST_BYTES / 2);
            client.flush();
            assertThat(text(client.next(RawHttp2.HEADERS))).contains("limits.maxHeldBytes");
        }
        before.complete();
        awaitHeld(0);
    }

    @Test
    void requestsAheadOfAnAnswerAreNotReadWithoutLimit() throws Exception {
        Promise<Void> before = Promise.promise();
        CalledServer large = new CalledServer(16 << 20);
        large.before = before.future();
        try (Socket http1 = new Socket(InetAddress.getLoopbackAddress(), large.port())) {
            http1.setSoTimeout((int) PATIENCE.toMillis());
            String heads = get(CalledServer.WAITS, 1) + get("/a", HEAD_BYTES).repeat(40);
            CompletableFuture<Void> written = CompletableFuture.runAsync(() -> write(http1, heads));
            await().atMost(PATIENCE).until(() -> held(large) > 0);
            await().during(Duration.ofMillis(200)).until(() -> held(large) < 5 * HEAD_BYTES);
            before.complete();
            written.get();
            BufferedReader answers =
                    new BufferedReader(new InputStreamReader(http1.getInputStream(), StandardCharsets.US_ASCII));
            assertThat(answers.lines().filter("HTTP/1.1 200 OK"::equals).limit(41))
                    .hasSize(41);
            await().atMost(PATIENCE).until(() -> held(large) == 0);
        } finally {
            large.close();
        }
    }

    /** Their answers have no body that could wait. */
    @Test
    void preflightsOfAClientThatDoesNotReadAreNotReadWithoutLimit() throws Exception {
        // Of the smallest, Netty decodes more at once than it allows ahead of answers.
        String request = "OPTIONS / HTTP/1.1\r\nhost: x\r\npad: " + "x".repeat(1_100) + "\r\n\r\n";
        ByteBuffer requests = ByteBuffer.wrap(request.repeat(100).getBytes(StandardCharsets.US_ASCII));
        AtomicLong bytes = new AtomicLong();
        CalledServer large = new CalledServer(16 << 20);
        try (SocketChannel http1 =
                SocketChannel.open(new InetSocketAddress(InetAddress.getLoopbackAddress(), large.port()))) {
            http1.configureBlocking(false);
            await().atMost(PATIENCE)
                    .pollInterval(Duration.ofMillis(1))
                    .during(Duration.ofMillis(300))
                    .until(() -> {
                        int written = http1.write(requests);
                        assertThat(bytes.addAndGet(written)).isLessThan(MUCH_BYTES);
                        if (!requests.hasRemaining()) {
                            requests.clear();
                        }
                        return written == 0;
                    });

            http1.configureBlocking(true);
            long sent = (bytes.get() + requests.remaining()) / request.length();
            CompletableFuture<Void> rest = CompletableFuture.runAsync(() -> write(http1, requests));
            BufferedReader answers = new BufferedReader(
                    new InputStreamReader(http1.socket().getInputStream(), StandardCharsets.US_ASCII));
            assertThat(answers.lines().filter("HTTP/1.1 200 OK"::equals).limit(sent))
                    .hasSize((int) sent);
            rest.get();
        } finally {
            large.close();
        }
    }

    @Test
    void largeHeadsArePartOfTheTotal_whichLeavesHealthPagesServed() throws IOException {
        Promise<Void> before = Promise.promise();
        server.before = before.future();
        try (Socket one = new Socket(InetAddress.getLoopbackAddress(), server.port());
                Socket two = new Socket(InetAddress.getLoopbackAddress(), server.port());
                Socket small = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            write(one, get(CalledServer.WAITS, HEAD_BYTES));
            await().atMost(PATIENCE).until(() -> held() > HEAD_BYTES / 2);
            write(two, get("/a", HEAD_BYTES));
            assertThat(statusLine(two)).isEqualTo("HTTP/1.1 429 Too Many Requests");
            write(small, get("/a", 1));
            assertThat(statusLine(small)).isEqualTo("HTTP/1.1 200 OK");
            before.complete();
            assertThat(statusLine(one)).isEqualTo("HTTP/1.1 200 OK");
        }
        awaitHeld(0);
        try (RawHttp2 client = client()) {
            client.call(1, ECHO, false, List.of("large", "x".repeat(12_000)));
            client.flush();
            await().atMost(PATIENCE).until(() -> held() > 3_000);
        }
        awaitHeld(0);
    }

    @Test
    void nothingIsHeldAfterConnectionsWereClosed() throws IOException {
        Promise<Void> before = Promise.promise();
        server.before = before.future();
        try (RawHttp2 client = client();
                Socket http1 = new Socket(InetAddress.getLoopbackAddress(), server.port())) {
            range(client, 1, REQUEST_BYTES / 4);
            part(client, RANGE, 3);
            part(client, PUSHES, 5);
            client.flush();
            http1.getOutputStream()
                    .write("POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n 1"
                            .getBytes(StandardCharsets.US_ASCII));
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(held()).isGreaterThan(REQUEST_BYTES / 4 + 2 * REQUEST_BYTES / 4));
        }
        before.complete();
        awaitHeld(0);
    }

    private RawHttp2 client() throws IOException {
        return new RawHttp2(server.port(), PATIENCE);
    }

    private int take() {
        int stream = nextStream;
        nextStream += 2;
        return stream;
    }

    /** A call with a request of that many bytes. */
    private static void range(RawHttp2 client, int stream, int bytes) throws IOException {
        byte[] padding = new byte[bytes];
        int rest = bytes
                - RangeRequest.newBuilder()
                        .setKey(ByteString.copyFrom(padding))
                        .build()
                        .getSerializedSize();
        byte[] request = RangeRequest.newBuilder()
                .setKey(ByteString.copyFrom(Arrays.copyOf(padding, bytes + rest)))
                .build()
                .toByteArray();
        client.call(stream, RANGE, false, List.of());
        byte[] message = RawHttp2.message(request);
        for (int at = 0; at < message.length; at += 16_000) {
            int end = Math.min(message.length, at + 16_000);
            client.frame(
                    RawHttp2.DATA,
                    end == message.length ? RawHttp2.END_STREAM : 0,
                    stream,
                    Arrays.copyOfRange(message, at, end));
        }
    }

    private static void part(RawHttp2 client, String path, int stream) throws IOException {
        client.call(stream, path, false, List.of());
        client.frame(RawHttp2.DATA, 0, stream, part());
    }

    /** The beginning of a message. */
    private static byte[] part() {
        return Arrays.copyOf(RawHttp2.message(new byte[REQUEST_BYTES]), REQUEST_BYTES / 4);
    }

    private static void post(Socket http1) {
        write(
                http1,
                "POST /a HTTP/1.1\r\nhost: x\r\ncontent-length: " + REQUEST_BYTES + "\r\n\r\n"
                        + "x".repeat(REQUEST_BYTES));
    }

    private static String get(String path, int bytes) {
        return "GET " + path + " HTTP/1.1\r\nhost: x\r\nlarge: " + "x".repeat(bytes) + "\r\n\r\n";
    }

    private static void write(Socket http1, String text) {
        try {
            http1.getOutputStream().write(text.getBytes(StandardCharsets.US_ASCII));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void write(SocketChannel http1, ByteBuffer bytes) {
        try {
            while (bytes.hasRemaining()) {
                int unused = http1.write(bytes);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String statusLine(Socket http1) throws IOException {
        return new BufferedReader(new InputStreamReader(http1.getInputStream(), StandardCharsets.US_ASCII)).readLine();
    }

    private static void awaitEnd(RawHttp2 client) throws IOException {
        Frame head = client.next(RawHttp2.HEADERS);
        while (!text(head).contains("grpc-status")) {
            head = client.next(RawHttp2.HEADERS);
        }
    }

    private static String text(Frame headers) {
        return new String(headers.payload(), StandardCharsets.ISO_8859_1);
    }

    private void awaitHeld(long bytes) {
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(held()).isEqualTo(bytes));
    }

    private long held() {
        return held(server);
    }

    private static long held(CalledServer server) {
        return (long)
                server.meters.get("understudy.gateway.requests.held").gauge().value();
    }

    private double refused(String reason) {
        return server.meters
                .get("understudy.gateway.requests.refused")
                .tag("reason", reason)
                .counter()
                .count();
    }
}
