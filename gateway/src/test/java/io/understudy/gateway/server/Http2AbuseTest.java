package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.ManagedChannel;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.server.RawHttp2.Frame;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What a client may do with HTTP/2 that costs the server more than itself: it loses its connection, or is answered at its own
 * expense, and another client is served meanwhile.
 *
 * <p>Tests invariant S5.
 */
@Timeout(120)
final class Http2AbuseTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String RANGE = "/etcdserverpb.KV/Range";
    private static final String ECHO = "/test.Test/Echo";
    /** Keeps nothing of a call's headers. */
    private static final String PUSHES = "/" + CalledServer.PUSHES;

    private final CalledServer server = new CalledServer(ServerLimits.DEFAULTS.timeouts());
    private RawHttp2 client;

    @BeforeEach
    void connect() throws IOException {
        client = new RawHttp2(server.port(), PATIENCE);
    }

    @AfterEach
    void othersAreServedAndTheServerStops() throws IOException, InterruptedException {
        server.answer = AnswerBody.of(new byte[0]);
        ManagedChannel channel = server.channel();
        assertThat(KVGrpc.newBlockingStub(channel)
                        .withDeadlineAfter(10, TimeUnit.SECONDS)
                        .range(RangeRequest.newBuilder()
                                .setKey(ByteString.copyFromUtf8("a"))
                                .build()))
                .isNotNull();
        client.close();
        server.close();
    }

    @Test
    void moreCancelsThanAllowedEndTheConnection() throws IOException {
        try {
            for (int stream = 1; stream < 2 * 2_000; stream += 2) {
                client.call(stream, ECHO, false, List.of());
                client.frame(RawHttp2.RST_STREAM, 0, stream, RawHttp2.bytes(8));
            }
            client.flush();
        } catch (IOException e) {
            // It may have ended before that was all.
        }
        assertEnded("RST");
    }

    @Test
    void pingsWithoutEndEndTheConnection() throws IOException {
        repeated(RawHttp2.PING, 0, new byte[8], 2_000);
        assertEnded("limits.maxControlFrames");
    }

    /** As grpc-go does, which sends a PING per round trip while it receives data. */
    @Test
    void pingsAfterResponsesAreNotCounted() throws IOException {
        int next = 1;
        for (int i = 0; i < 1_100; i++, next += 2) {
            client.call(next, RANGE, false, List.of());
            client.frame(RawHttp2.DATA, RawHttp2.END_STREAM, next, RawHttp2.message(new byte[0]));
            respondsThenPings();
        }
        client.call(next, ECHO, false, List.of());
        for (int i = 0; i < 1_100; i++) {
            client.frame(RawHttp2.DATA, 0, next, RawHttp2.message(new byte[1]));
            respondsThenPings();
        }
        repeated(RawHttp2.PING, 0, new byte[8], 2_000);
        assertEnded("limits.maxControlFrames");
    }

    private void respondsThenPings() throws IOException {
        client.flush();
        assertThat(client.next(RawHttp2.DATA)).isNotNull();
        client.frame(RawHttp2.PING, 0, 0, new byte[8]);
        client.flush();
        assertThat(client.next(RawHttp2.PING)).isNotNull();
    }

    @Test
    void pingsWithUnreadAnswersEndTheConnection() throws IOException {
        // Nothing is read until all is sent: the server's queue is bounded, and so is this.
        repeated(RawHttp2.PING, 0, new byte[8], 100_000);
        assertEnded("limits.maxControlFrames");
    }

    @Test
    void settingsWithoutEndEndTheConnection() throws IOException {
        byte[] window = {0, 4, 0, 1, 0, 0};
        repeated(RawHttp2.SETTINGS, 0, window, 2_000);
        assertEnded("limits.maxControlFrames");
    }

    @Test
    void settingsCostMoreWithManyStreams() throws IOException {
        for (int stream = 1; stream < 2 * 640; stream += 2) {
            client.call(stream, PUSHES, false, List.of());
        }
        client.frame(RawHttp2.PING, 0, 0, new byte[8]);
        client.flush();
        assertThat(client.next(RawHttp2.PING)).isNotNull();
        repeated(RawHttp2.SETTINGS, 0, new byte[] {0, 4, 0, 1, 0, 0}, 30);
        assertEnded("limits.maxControlFrames");
    }

    @Test
    void prioritiesAndUnknownFramesCountAsControlFrames() throws IOException {
        repeated(RawHttp2.PRIORITY, 1, new byte[5], 600);
        repeated(0x77, 1, new byte[5], 600);
        assertEnded("limits.maxControlFrames");
    }

    @Test
    void emptyFramesOfDataEndTheConnection() throws IOException {
        client.call(1, ECHO, false, List.of());
        repeated(RawHttp2.DATA, 1, new byte[0], 100);
        assertEnded("empty data");
    }

    @Test
    void manySmallContinuationsEndTheConnection() throws IOException {
        byte[] head = RawHttp2.head(RANGE, List.of("token", "x".repeat(1_000)));
        try {
            client.frame(RawHttp2.HEADERS, 0, 1, new byte[0]);
            for (byte each : head) {
                client.frame(RawHttp2.CONTINUATION, 0, 1, new byte[] {each});
            }
            client.flush();
        } catch (IOException e) {
            // It may have ended before that was all.
        }
        assertEnded("headers in more than");
    }

    @Test
    void aFewContinuationsAreAccepted() throws IOException {
        byte[] head = RawHttp2.head(ECHO, List.of());
        client.frame(RawHttp2.HEADERS, RawHttp2.END_STREAM, 1, new byte[0]);
        client.frame(RawHttp2.CONTINUATION, 0, 1, Arrays.copyOf(head, 10));
        client.frame(RawHttp2.CONTINUATION, RawHttp2.END_HEADERS, 1, Arrays.copyOfRange(head, 10, head.length));
        client.flush();
        assertThat(client.next(RawHttp2.HEADERS).stream()).isEqualTo(1);
    }

    @Test
    void headersBeyondTheSizeLimitAreRejected() throws IOException {
        List<String> fields = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            fields.addAll(List.of("f" + i, "x".repeat(2_000)));
        }
        byte[] head = RawHttp2.head(ECHO, fields);
        client.frame(RawHttp2.HEADERS, 0, 1, Arrays.copyOf(head, 16_000));
        for (int at = 16_000; at < head.length; at += 16_000) {
            int end = Math.min(head.length, at + 16_000);
            client.frame(
                    RawHttp2.CONTINUATION,
                    end == head.length ? RawHttp2.END_HEADERS : 0,
                    1,
                    Arrays.copyOfRange(head, at, end));
        }
        client.flush();
        // 431 in the static table's terms, or the connection's end.
        assertThat(client.next()).isNotNull();
        assertThat(server.echoed).hasValue(0);
    }

    @Test
    void fieldsBeyondTheLimitAreRejected() throws IOException {
        List<String> fields = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            fields.addAll(List.of("f", "x"));
        }
        client.call(1, ECHO, false, fields);
        client.flush();
        assertThat(text(client.next(RawHttp2.HEADERS))).contains("limits.maxHeaders");
    }

    @Test
    void headersHeldForOpenCallsAreBounded() throws IOException {
        ByteArrayOutputStream first = new ByteArrayOutputStream();
        first.writeBytes(RawHttp2.head(ECHO, List.of()));
        RawHttp2.literal(first, 0x40, "a", "x".repeat(2_000));
        client.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, 1, first.toByteArray());
        // From now on the field is one byte, the first of the table.
        ByteArrayOutputStream next = new ByteArrayOutputStream();
        next.writeBytes(RawHttp2.head(ECHO, List.of()));
        next.writeBytes(new byte[] {(byte) 0xbe, (byte) 0xbe});
        for (int stream = 3; stream < 2 * 50; stream += 2) {
            client.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS, stream, next.toByteArray());
        }
        client.flush();
        // 64 KiB of 4.5 KiB each.
        Frame refused = client.next(RawHttp2.HEADERS);
        assertThat(refused.stream()).isBetween(2 * 12, 2 * 18);
        assertThat(text(refused)).contains("limits.maxHeldBytes");
        // What ends gives room.
        client.frame(RawHttp2.RST_STREAM, 0, 1, RawHttp2.bytes(8));
        client.frame(RawHttp2.RST_STREAM, 0, 3, RawHttp2.bytes(8));
        client.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, 201, next.toByteArray());
        client.flush();
        Frame last = refused;
        while (last.stream() != 201) {
            last = client.next(RawHttp2.HEADERS);
        }
        assertThat(text(last)).doesNotContain("limits.maxHeldBytes");
    }

    @Test
    void answersWithoutAWindowAreNotEncoded() throws IOException {
        server.answer = server.zeros(1 << 20);
        client.frame(RawHttp2.SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 0});
        for (int stream = 1; stream < 2 * 500; stream += 2) {
            client.call(stream, RANGE, false, List.of());
            client.frame(RawHttp2.DATA, RawHttp2.END_STREAM, stream, RawHttp2.message(new byte[0]));
        }
        client.frame(RawHttp2.PING, 0, 0, new byte[8]);
        client.flush();
        assertThat(client.next(RawHttp2.PING)).isNotNull();
        assertThat(server.callers.size()).isEqualTo(500);
        assertThat(server.produced.get()).isLessThan(2 << 20);
        // Unread streams are reset.
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.ended).hasSize(500));
    }

    @Test
    void answersAreNotEncodedForAClientThatDoesNotRead() {
        int sent = 0;
        try {
            // Refused by a header that has the name.
            String method = "/" + "x".repeat(4_000) + "/y";
            for (; sent < 20_000; sent++) {
                client.call(1 + 2 * sent, method, true, List.of());
            }
        } catch (IOException e) {
            // It had to wait, and has lost its connection.
        }
        assertThat(sent).isLessThan(20_000);
        // What still waited for the lost connection failed with it, and is no error of its own.
        await().atMost(PATIENCE).until(() -> closed("stall") == 1);
        assertThat(closed("protocol")).isZero();
    }

    @Test
    void incompleteFramesAndHeaderBlocksTimeOut() throws IOException {
        client.raw(new byte[] {0, 1, 0, RawHttp2.HEADERS});
        client.flush();
        assertThat(client.next(RawHttp2.GOAWAY)).isNull();
        client.close();
        client = new RawHttp2(server.port(), PATIENCE);
        client.frame(RawHttp2.HEADERS, 0, 1, RawHttp2.head(ECHO, List.of()));
        client.flush();
        assertThat(client.next(RawHttp2.GOAWAY)).isNull();
    }

    private double closed(String reason) {
        return server.meters
                .get("understudy.gateway.connections.closed")
                .tag("reason", reason)
                .counter()
                .count();
    }

    private void repeated(int type, int stream, byte[] payload, int times) {
        try {
            for (int i = 0; i < times; i++) {
                client.frame(type, 0, stream, payload);
            }
            client.flush();
        } catch (IOException e) {
            // It may have ended before that was all.
        }
    }

    /** For such a reason, if that could still be read before the end. */
    private void assertEnded(String why) {
        String reason;
        try {
            reason = client.reason();
        } catch (SocketTimeoutException e) {
            throw new AssertionError("goes on", e);
        } catch (IOException e) {
            return;
        }
        if (reason != null) {
            assertThat(reason).contains(why);
        }
    }

    private static String text(Frame headers) {
        return new String(headers.payload(), StandardCharsets.ISO_8859_1);
    }
}
