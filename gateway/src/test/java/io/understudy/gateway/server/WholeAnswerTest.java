package io.understudy.gateway.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.understudy.gateway.api.AnswerBody;
import io.understudy.gateway.server.RawHttp2.Frame;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.slf4j.LoggerFactory;

/** Small answers, which are written from head to trailers at once where the client's windows let them. */
@Timeout(120)
final class WholeAnswerTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final String RANGE = "/" + CalledServer.UNARY.getFullMethodName();
    private static final int INITIAL_WINDOW_SIZE = 4;
    private static final int HEADER_TABLE_SIZE = 1;

    private final CalledServer server = new CalledServer();

    @AfterEach
    void stop() throws InterruptedException {
        server.close();
    }

    @Test
    void aWholeAnswerHasThreeFramesAndTheLastEndsTheStream() throws IOException {
        server.answer = AnswerBody.of("hello");
        try (RawHttp2 client = new RawHttp2(server.port(), PATIENCE)) {
            get(client, 1);
            client.flush();
            Frame head = client.next(RawHttp2.HEADERS);
            Frame message = client.next();
            Frame end = client.next();

            assertThat(head.flags()).isEqualTo(RawHttp2.END_HEADERS);
            assertThat(text(head))
                    .contains("application/grpc")
                    .contains("noted")
                    .contains("beside");
            assertThat(message.type()).isEqualTo(RawHttp2.DATA);
            assertThat(message.flags()).isZero();
            assertThat(message.payload()).isEqualTo(RawHttp2.message("hello".getBytes(StandardCharsets.UTF_8)));
            assertThat(end.type()).isEqualTo(RawHttp2.HEADERS);
            assertThat(end.flags()).isEqualTo(RawHttp2.END_HEADERS | RawHttp2.END_STREAM);
            assertThat(text(end)).contains("grpc-status");
        }
    }

    @Test
    void aWholeAnswerIsSentInPartsAsItsWindowGrows() throws IOException {
        byte[] body = new byte[100];
        body[99] = 7;
        server.answer = AnswerBody.of(body);
        try (RawHttp2 client = new RawHttp2(server.port(), PATIENCE)) {
            setting(client, INITIAL_WINDOW_SIZE, 1);
            get(client, 1);
            client.flush();
            assertThat(client.next(RawHttp2.HEADERS).stream()).isEqualTo(1);
            ByteArrayOutputStream received = new ByteArrayOutputStream();
            received.writeBytes(client.next().payload());
            assertThat(received.size()).isEqualTo(1);
            while (received.size() < 105) {
                client.frame(RawHttp2.WINDOW_UPDATE, 0, 1, RawHttp2.bytes(13));
                client.flush();
                Frame part = client.next(RawHttp2.DATA);
                assertThat(part.payload()).hasSizeLessThanOrEqualTo(13);
                received.writeBytes(part.payload());
            }
            assertThat(received.toByteArray()).isEqualTo(RawHttp2.message(body));
            assertThat(client.next().flags()).isEqualTo(RawHttp2.END_HEADERS | RawHttp2.END_STREAM);
        }
    }

    @Test
    void anUnreadAnswerDoesNotDelayOthers() throws IOException {
        server.answer = AnswerBody.of("hello");
        try (RawHttp2 client = new RawHttp2(server.port(), PATIENCE)) {
            setting(client, INITIAL_WINDOW_SIZE, 0);
            get(client, 1);
            get(client, 3);
            client.frame(RawHttp2.WINDOW_UPDATE, 0, 3, RawHttp2.bytes(1_000));
            client.flush();
            assertThat(client.next(RawHttp2.DATA).stream()).isEqualTo(3);
            // What is cancelled meanwhile is forgotten.
            client.frame(RawHttp2.RST_STREAM, 0, 1, RawHttp2.bytes(8));
            client.frame(RawHttp2.WINDOW_UPDATE, 0, 0, RawHttp2.bytes(1_000));
            setting(client, INITIAL_WINDOW_SIZE, 1_000);
            get(client, 5);
            client.flush();
            assertThat(client.next(RawHttp2.DATA).stream()).isEqualTo(5);
        }
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                        server.meters.get("understudy.gateway.calls").gauge().value())
                .isZero());
    }

    @Test
    void aCancelOfAWaitingAnswerIsNotLoggedAsFailure() throws IOException {
        server.answer = AnswerBody.of("hello");
        Logger logger = (Logger) LoggerFactory.getLogger(Http2Exchange.class);
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        logger.addAppender(logged);
        try {
            try (RawHttp2 client = new RawHttp2(server.port(), PATIENCE)) {
                setting(client, INITIAL_WINDOW_SIZE, 1);
                get(client, 1);
                get(client, 3);
                client.flush();
                assertThat(client.next(RawHttp2.DATA).stream()).isEqualTo(1);
                assertThat(client.next(RawHttp2.DATA).stream()).isEqualTo(3);
                client.frame(RawHttp2.RST_STREAM, 0, 1, RawHttp2.bytes(8));
                client.frame(RawHttp2.PING, 0, 0, new byte[8]);
                client.flush();
                assertThat(client.next(RawHttp2.PING)).isNotNull();
            }
        } finally {
            logger.detachAppender(logged);
        }
        assertThat(logged.list).isEmpty();
    }

    /** RFC 7541, 4.2: the first block after a reduction of the table carries an update. */
    @Test
    void headersCarryAnUpdateAfterAReductionOfTheTable() throws IOException {
        server.answer = AnswerBody.of("hello");
        try (RawHttp2 client = new RawHttp2(server.port(), PATIENCE)) {
            // The client has no table from the beginning.
            assertThat(begin(client, 1)).isEqualTo((byte) 0x20);
            assertThat(begin(client, 3)).isEqualTo((byte) 0x88);
            setting(client, HEADER_TABLE_SIZE, 100);
            assertThat(begin(client, 5)).isEqualTo((byte) (0x20 | 31));
            setting(client, HEADER_TABLE_SIZE, 0);
            assertThat(begin(client, 7)).isEqualTo((byte) 0x20);
        }
    }

    @Test
    void trailersCarryTheUpdateIfTheTableIsReducedMidway() throws IOException {
        server.answer = AnswerBody.of(new byte[100]);
        try (RawHttp2 client = new RawHttp2(server.port(), PATIENCE)) {
            setting(client, HEADER_TABLE_SIZE, 200);
            setting(client, INITIAL_WINDOW_SIZE, 1);
            get(client, 1);
            client.flush();
            assertThat(client.next(RawHttp2.DATA).stream()).isEqualTo(1);
            setting(client, HEADER_TABLE_SIZE, 100);
            client.frame(RawHttp2.WINDOW_UPDATE, 0, 1, RawHttp2.bytes(1_000));
            client.flush();
            Frame trailers = client.next(RawHttp2.HEADERS);
            assertThat(trailers.flags()).isEqualTo(RawHttp2.END_HEADERS | RawHttp2.END_STREAM);
            assertThat(trailers.payload()[0]).isEqualTo((byte) (0x20 | 31));
        }
    }

    /** Netty releases data that waits for a window before it reports the settings. */
    @Test
    void trailersCarryTheUpdateIfTheSameSettingsReleaseThem() throws IOException {
        server.answer = AnswerBody.of(new byte[100]);
        try (RawHttp2 client = new RawHttp2(server.port(), PATIENCE)) {
            assertThat(begin(client, 1)).isEqualTo((byte) 0x20);
            setting(client, INITIAL_WINDOW_SIZE, 100);
            get(client, 3);
            ByteArrayOutputStream both = new ByteArrayOutputStream();
            both.writeBytes(new byte[] {0, HEADER_TABLE_SIZE, 0, 0, 0, 100});
            both.writeBytes(new byte[] {0, INITIAL_WINDOW_SIZE, 0, 0, 100, 100});
            client.frame(RawHttp2.SETTINGS, 0, 0, both.toByteArray());
            client.flush();
            assertThat(client.next(RawHttp2.HEADERS).payload()[0]).isEqualTo((byte) (0x20 | 31));
        }
    }

    /** The first byte of the answer's head. */
    private static byte begin(RawHttp2 client, int stream) throws IOException {
        get(client, stream);
        client.flush();
        byte first = client.next(RawHttp2.HEADERS).payload()[0];
        // And its end.
        Frame unused = client.next(RawHttp2.HEADERS);
        return first;
    }

    private static void setting(RawHttp2 client, int name, int value) throws IOException {
        ByteArrayOutputStream setting = new ByteArrayOutputStream();
        setting.write(0);
        setting.write(name);
        setting.writeBytes(RawHttp2.bytes(value));
        client.frame(RawHttp2.SETTINGS, 0, 0, setting.toByteArray());
    }

    private static void get(RawHttp2 client, int stream) throws IOException {
        client.call(stream, RANGE, false, List.of());
        client.frame(RawHttp2.DATA, RawHttp2.END_STREAM, stream, RawHttp2.message(new byte[0]));
    }

    private static String text(Frame headers) {
        return new String(headers.payload(), StandardCharsets.ISO_8859_1);
    }
}
