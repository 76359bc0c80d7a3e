package io.understudy.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.netty.util.internal.PlatformDependent;
import io.understudy.config.HostPort;
import io.understudy.gateway.replica.ReplicaSettings;
import io.understudy.gateway.replica.ScriptedFeeds;
import io.understudy.gateway.server.RawHttp2;
import io.understudy.vocabulary.Change;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The memory that clients take which read late: watchers of a large commit over every protocol, and responses with old
 * versions of the store.
 *
 * <p>Tests invariants N2, S3.
 */
@Timeout(180)
final class SlowClientMemoryTest {

    private static final ClusterId CLUSTER = new ClusterId(0xabcdefL);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int KEYS = 250;
    private static final int VALUE_BYTES = 100 << 10;

    /** Of gRPC, a filter each; and a few of the other protocols. */
    private static final int STREAMS = 12;

    private static final int OTHERS = 2;
    private static final int INITIAL_WINDOW_SIZE = 4;
    private static final int MUCH = 1 << 30;

    /** Less than two encodings of the commit. */
    private static final long MOST_BYTES = 50L << 20;

    /** Versions of the store that are read, of which two are within the limit, and two in the window. */
    private static final int VERSIONS = 8;

    private static final ReplicaSettings SMALL = new ReplicaSettings(1_000, 1 << 20, 100 << 20, Duration.ofMinutes(10));
    private static final int ENHANCE_YOUR_CALM = 11;

    private final ScriptedFeeds feeds = new ScriptedFeeds();
    private final List<ByteString> values = new ArrayList<>();
    private GatewayFixture fixture;

    @BeforeEach
    void start() throws Exception {
        Random random = new Random(1);
        for (int i = 0; i < KEYS; i++) {
            byte[] value = new byte[VALUE_BYTES];
            random.nextBytes(value);
            values.add(ByteString.copyFrom(value));
        }
        fixture = new GatewayFixture(Gateway.start(
                GatewaySettings.of("edge", new HostPort("127.0.0.1", 0), SourceSettings.Kafka.of("127.0.0.1:1", "none"))
                        .with(SMALL),
                UnaryOperator.identity(),
                kafka -> feeds));
        feeds.next(consumer -> {
            consumer.snapshotStarted(CLUSTER, new Revision(10));
            consumer.snapshotPage(
                    KeyRange.all(),
                    IntStream.range(0, KEYS).mapToObj(i -> entry(i, 10)).toList());
            consumer.snapshotCompleted(position(10));
        });
        feeds.next(consumer -> consumer.asOf(Instant.now()));
        fixture.awaitReady();
    }

    @AfterEach
    void close() {
        fixture.close();
    }

    @Test
    void aLargeCommitIsNotEncodedForEachFilterAndLoop() throws Exception {
        List<RawHttp2> clients = new ArrayList<>();
        List<Socket> lines = new ArrayList<>();
        try {
            for (int i = 0; i < STREAMS; i++) {
                clients.add(watching(i));
            }
            for (int i = 0; i < OTHERS; i++) {
                lines.add(post(
                        "1.0",
                        "/v3/watch",
                        "{\"create_request\":{\"key\":\"" + base64("key") + "\",\"range_end\":\"" + base64("kez" + i)
                                + "\",\"prev_kv\":true}}"));
                lines.add(get("/v1/watch?prefix=key&previous=true"));
            }
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(watchers("live")).isEqualTo(STREAMS + 2 * OTHERS));
            long before = memory();

            feeds.next(consumer -> consumer.commit(
                    new Commit(
                            new Revision(11),
                            IntStream.range(0, KEYS)
                                    .mapToObj(i -> (Change) new Change.Delete(key(i)))
                                    .toList()),
                    position(11)));
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(
                            metric("understudy_gateway_watch_events_total{process=\"gateway\"}"))
                    .isEqualTo(KEYS * (STREAMS + 2 * OTHERS)));

            assertThat(memory() - before).isLessThan(MOST_BYTES);
            for (RawHttp2 client : clients) {
                assertReceived(client);
            }
            List<BufferedReader> readers = new ArrayList<>();
            for (int i = 0; i < lines.size(); i += 2) {
                readers.add(reader(lines.get(i)));
                assertResult(readers.get(i));
                readers.add(reader(lines.get(i + 1)));
                assertCommit(readers.get(i + 1));
            }
            // They continue after it.
            feeds.next(consumer ->
                    consumer.commit(new Commit(new Revision(12), List.of(new Change.Put(entry(0, 12)))), position(12)));
            for (RawHttp2 client : clients) {
                assertThat(client.next(RawHttp2.DATA)).isNotNull();
            }
            for (BufferedReader reader : readers) {
                // Heartbeats may come before.
                String line = reader.readLine();
                while (!line.contains("12")) {
                    line = reader.readLine();
                }
            }
        } finally {
            for (RawHttp2 client : clients) {
                client.close();
            }
            for (Socket socket : lines) {
                socket.close();
            }
        }
        await().atMost(PATIENCE).until(() -> watchers("live") == 0);
    }

    @Test
    void responsesThatKeepOldVersionsEnd() throws Exception {
        List<RawHttp2> clients = new ArrayList<>();
        List<Socket> others = new ArrayList<>();
        try {
            long before = memory();
            for (int i = 0; i < VERSIONS; i++) {
                long revision = 11L + i;
                clients.add(reading());
                others.add(post(
                        "1.1",
                        "/v3/kv/range",
                        "{\"key\":\"" + base64("key") + "\",\"range_end\":\"" + base64("kez") + "\","
                                + "\"serializable\":true}"));
                // So it has begun with this version.
                assertThat(others.get(i).getInputStream().read()).isEqualTo('H');
                feeds.next(consumer -> consumer.commit(
                        new Commit(
                                new Revision(revision),
                                IntStream.range(0, KEYS)
                                        .mapToObj(key -> (Change) new Change.Put(entry(key, revision)))
                                        .toList()),
                        position(revision)));
                fixture.awaitRevision(revision);
            }
            RawHttp2 current = reading();
            clients.add(current);

            assertThat(metric("understudy_gateway_responses_kept_bytes{process=\"gateway\"}"))
                    .isBetween(1.0, (double) SMALL.maxBytes());
            assertThat(metric("understudy_gateway_responses_ended_total{process=\"gateway\"}"))
                    .isGreaterThanOrEqualTo(2 * (VERSIONS - 4));
            // The store, the last commit, and the limit.
            assertThat(memory() - before).isLessThan(128L << 20);
            assertThat(clients.get(0).next(RawHttp2.RST_STREAM).payload()).isEqualTo(RawHttp2.bytes(ENHANCE_YOUR_CALM));
            assertThatThrownBy(() -> complete(others.get(0))).isInstanceOf(IOException.class);
            assertThat(current.next(RawHttp2.DATA).payload()).isNotEmpty();
        } finally {
            for (RawHttp2 client : clients) {
                client.close();
            }
            for (Socket socket : others) {
                socket.close();
            }
        }
        await().atMost(PATIENCE)
                .untilAsserted(() -> assertThat(metric("understudy_gateway_responses_kept_bytes{process=\"gateway\"}"))
                        .isZero());
    }

    /** A range of all keys, of which the client reads the beginning. */
    private RawHttp2 reading() throws IOException {
        RawHttp2 client = new RawHttp2(fixture.gateway.apiPort(), PATIENCE);
        RangeRequest range = RangeRequest.newBuilder()
                .setKey(ByteString.copyFromUtf8("key"))
                .setRangeEnd(ByteString.copyFromUtf8("kez"))
                .setSerializable(true)
                .build();
        client.call(1, "/etcdserverpb.KV/Range", false, List.of());
        client.frame(RawHttp2.DATA, RawHttp2.END_STREAM, 1, RawHttp2.message(range.toByteArray()));
        client.flush();
        // So it has begun with this version.
        assertThat(client.next(RawHttp2.DATA).payload()).isNotEmpty();
        return client;
    }

    /** Reads a chunked answer up to its end. */
    private static void complete(Socket socket) throws IOException {
        BufferedReader in = reader(socket);
        String line = in.readLine();
        while (!"0".equals(line)) {
            if (line == null) {
                throw new EOFException("incomplete");
            }
            line = in.readLine();
        }
    }

    /** A watcher with windows for all, which does not read. Every other takes fragments. */
    private RawHttp2 watching(int number) throws IOException {
        RawHttp2 client = new RawHttp2(fixture.gateway.apiPort(), PATIENCE);
        ByteBuffer window = ByteBuffer.allocate(6).putShort((short) INITIAL_WINDOW_SIZE);
        client.frame(RawHttp2.SETTINGS, 0, 0, window.putInt(MUCH).array());
        client.frame(RawHttp2.WINDOW_UPDATE, 0, 0, RawHttp2.bytes(MUCH));
        WatchRequest create = WatchRequests.create("key", "kez" + number, more -> {
            more.setPrevKv(true);
            if (number % 2 == 0) {
                WatchRequests.fragment(more);
            }
        });
        client.call(1, "/etcdserverpb.Watch/Watch", false, List.of());
        client.frame(RawHttp2.DATA, 0, 1, RawHttp2.message(create.toByteArray()));
        client.flush();
        return client;
    }

    private void assertReceived(RawHttp2 client) throws IOException {
        List<Event> events = new ArrayList<>();
        ByteArrayOutputStream message = new ByteArrayOutputStream();
        int missing = 0;
        while (events.size() < KEYS) {
            ByteBuffer data = ByteBuffer.wrap(client.next(RawHttp2.DATA).payload());
            while (data.hasRemaining()) {
                if (missing == 0) {
                    // The gateway writes no prefix in two frames here.
                    data.get();
                    missing = data.getInt();
                }
                byte[] part = new byte[Math.min(missing, data.remaining())];
                data.get(part);
                message.writeBytes(part);
                missing -= part.length;
                if (missing == 0) {
                    events.addAll(WatchResponse.parseFrom(message.toByteArray()).getEventsList());
                    message.reset();
                }
            }
        }
        for (int i = 0; i < KEYS; i++) {
            assertThat(events.get(i).getType()).isEqualTo(Event.EventType.DELETE);
            assertThat(events.get(i).getKv().getKey()).isEqualTo(key(i));
            assertThat(events.get(i).getPrevKv().getValue()).isEqualTo(values.get(i));
        }
    }

    private void assertResult(BufferedReader in) throws IOException {
        JsonArray events = null;
        while (events == null) {
            String line = in.readLine();
            if (line.startsWith("{")) {
                events = new JsonObject(line).getJsonObject("result").getJsonArray("events");
            }
        }
        assertThat(events).hasSize(KEYS);
        for (int i = 0; i < KEYS; i++) {
            JsonObject event = events.getJsonObject(i);
            assertThat(event.getString("type")).isEqualTo("DELETE");
            assertThat(event.getJsonObject("prev_kv").getString("value"))
                    .isEqualTo(Base64.getEncoder().encodeToString(values.get(i).toByteArray()));
        }
    }

    private void assertCommit(BufferedReader in) throws IOException {
        JsonArray changes = null;
        while (changes == null || changes.isEmpty()) {
            String line = in.readLine();
            if (line.startsWith("{")) {
                changes = new JsonObject(line).getJsonArray("changes");
            }
        }
        assertThat(changes).hasSize(KEYS);
        assertThat(changes.getJsonObject(KEYS - 1).getString("key")).isEqualTo("key-249");
    }

    /** Without the chunks of HTTP/1.1. */
    private static BufferedReader reader(Socket socket) throws IOException {
        return new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8), 1 << 16);
    }

    private Socket post(String version, String path, String body) throws IOException {
        return send(
                fixture.gateway.apiPort(),
                "POST " + path + " HTTP/" + version + "\r\nHost: localhost\r\nContent-Length: " + body.length()
                        + "\r\n\r\n" + body);
    }

    private Socket get(String path) throws IOException {
        return send(
                fixture.gateway.restPort(),
                "GET " + path + " HTTP/1.0\r\nHost: localhost\r\nAccept: application/json\r\n\r\n");
    }

    private static Socket send(int port, String request) throws IOException {
        Socket socket = new Socket();
        socket.setReceiveBufferSize(1 << 20);
        socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        socket.setSoTimeout((int) PATIENCE.toMillis());
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        return socket;
    }

    private int watchers(String state) {
        return (int) metric("understudy_gateway_watchers{process=\"gateway\",state=\"" + state + "\"}");
    }

    private double metric(String name) {
        return fixture.page("/metrics")
                .body()
                .lines()
                .filter(line -> line.startsWith(name + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(name.length() + 1)))
                .sum();
    }

    /** Heap and direct memory in use. */
    private static long memory() {
        System.gc();
        long direct = ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class).stream()
                .mapToLong(BufferPoolMXBean::getMemoryUsed)
                .sum();
        long pooled = Math.max(0, PlatformDependent.usedDirectMemory());
        return Math.max(direct, pooled)
                + ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static ByteString key(int index) {
        return ByteString.copyFromUtf8("key-%03d".formatted(index));
    }

    private KeyValue entry(int index, long revision) {
        // A copy, so that no two versions share it.
        ByteString value = ByteString.copyFrom(values.get(index).toByteArray());
        return new KeyValue(key(index), value, new Revision(10), new Revision(revision), revision - 9, 0);
    }

    private static Position position(long revision) {
        return new Position(CLUSTER, new Revision(revision), null);
    }
}
