package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.grpc.ManagedChannel;
import io.understudy.gateway.forward.ForwardSettings;
import io.understudy.gateway.forward.ForwardSettings.Writes;
import io.understudy.local.junit.EtcdExtension;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Streams of JSON: a gateway answers the same requests by the bytes that its source answers.
 *
 * <p>Tests invariant J2.
 */
@Timeout(120)
final class JsonWatchIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static GatewayFixture fixture;
    private static ManagedChannel channel;
    private static URI etcd;
    private static URI gateway;

    @BeforeAll
    static void start() throws Exception {
        etcd = SOURCE.cluster().clientUrls().get(0);
        channel = GatewayFixture.channel(etcd.getHost(), etcd.getPort());
        fixture = new GatewayFixture(
                GatewayFixture.settings(SOURCE.cluster()).with(ForwardSettings.DEFAULTS.with(Writes.FORWARD)));
        gateway = URI.create("http://127.0.0.1:" + fixture.gateway.apiPort());
        fixture.awaitReady();
        // The gateway uses the source's dialect once it is detected.
        await().atMost(PATIENCE).untilAsserted(() -> assertAlike("/v3/maintenance/snapshot", "{", 1));
    }

    @AfterAll
    static void stop() {
        channel.shutdownNow();
        fixture.close();
    }

    @Test
    void watchersReceivePastAndNewEventsAsFromEtcd() {
        long first = put("told/a", "<&>");
        put("told/b", "2");
        long last = delete("told/a");
        fixture.awaitRevision(last);
        String body = create("told/a", "told/b", ",\"start_revision\":" + first + ",\"prev_kv\":true")
                + create("told/b", "told/c", ",\"watch_id\":\"7\",\"filters\":[\"NODELETE\"]")
                + create("told/c", "told/d", ",\"watch_id\":8,\"progress_notify\":true")
                + " {\"cancel_request\":{\"watch_id\":8}}\n{\"progress_request\":{}}";
        try (JsonLines here = open(gateway, "/v3/watch", body);
                JsonLines there = open(etcd, "/v3/watch", body)) {
            // Three created, one canceled, one batch of the past; progress only if etcd was synced by then.
            await().atMost(PATIENCE).until(() -> here.lines.size() >= 5 && there.lines.size() >= 5);
            put("told/a", "again");
            // One by one: either side may send consecutive commits under the last revision.
            await().atMost(PATIENCE)
                    .until(() -> events(here).size() == 2 && events(there).size() == 2);
            delete("told/b");
            put("told/b", "the last");
            await().atMost(PATIENCE).untilAsserted(() -> {
                assertThat(events(there)).hasSize(3);
                assertThat(events(here)).isEqualTo(events(there));
                assertThat(here.lines)
                        .filteredOn(JsonWatchIT::isControl)
                        .isEqualTo(there.lines.stream()
                                .filter(JsonWatchIT::isControl)
                                .toList());
            });
            assertThat(here.head()).isEqualTo(there.head());
            assertThat(here.ended()).isFalse();
        }
    }

    @Test
    void aStreamIsNotCountedAsRequestInFlight() {
        try (JsonLines client = open(gateway, "/v3/watch", create("counted/", "counted0", ""))) {
            await().atMost(PATIENCE).until(() -> !client.lines.isEmpty());
            await().atMost(PATIENCE)
                    .until(() -> Scrape.sum(gateway, "understudy_gateway_calls") >= 1
                            && Scrape.sum(gateway, "understudy_gateway_requests_inflight") == 0);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"create_request\":{\"key\":\"YQ==\",\"start_revision\":-1}}",
                "{\"createRequest\":{\"key\":\"eg==\",\"rangeEnd\":\"YQ==\"}}",
                "{\"create_request\":{\"key\":\"YQ==\"}}{\"create_request\":5}{\"create_request\":{\"key\":\"YQ==\"}}"
            })
    void invalidCreateRequestsAreRejectedAsByEtcd(String body) {
        assertAlike("/v3/watch", body, 1);
    }

    @Test
    void aDuplicateWatchIdIsRejectedAsByEtcd() {
        String same = "{\"create_request\":{\"key\":\"YQ==\",\"watch_id\":3}}";
        assertAlike("/v3/watch", same + same, 2);
    }

    @Test
    void anErrorEndsTheStreamAsInEtcdBeforeAndAfterItsHead() {
        assertAlike("/v3/watch", "{\"create_request\":{\"key\":\"YQ==\"}}", 2, "Grpc-Timeout", "500m");
        assertAlike("/v3/watch", "{\"cancel_request\":{\"watch_id\":3}}", 1, "Grpc-Timeout", "500m");
        assertAlike("/v3/watch", "{}", 1, "Grpc-Timeout", "500x");
    }

    @Test
    void leaseKeepAlivesAreAnsweredAsByEtcd() {
        long lease = LeaseGrpc.newBlockingStub(channel)
                .withDeadlineAfter(30, TimeUnit.SECONDS)
                .leaseGrant(LeaseGrantRequest.newBuilder().setTTL(1_000).build())
                .getID();
        assertAlike("/v3/lease/keepalive", "{\"ID\":\"" + lease + "\"} {\"ID\":\"" + lease + "\"}{\"ID\":5}", 3);
        assertAlike("/v3/lease/keepalive", "", 0);
    }

    @Test
    void electionObserversReceiveTheLeaderAsFromEtcd() {
        String name = base64("election");
        try (JsonLines campaign =
                open(etcd, "/v3/election/campaign", "{\"name\":\"" + name + "\",\"value\":\"Zmlyc3Q=\"}")) {
            await().atMost(PATIENCE).until(campaign::ended);
            assertThat(campaign.head()).startsWith("200 ");
        }
        String observe = "{\"name\":\"" + name + "\"}";
        try (JsonLines here = open(gateway, "/v3/election/observe", observe);
                JsonLines there = open(etcd, "/v3/election/observe", observe)) {
            await().atMost(PATIENCE).until(() -> here.lines.size() == 1 && there.lines.size() == 1);
            assertThat(here.lines).isEqualTo(there.lines);
            assertThat(here.head()).isEqualTo(there.head());
        }
    }

    @Test
    void aSnapshotIsStreamedInChunks() throws Exception {
        put("large", "x".repeat(300_000));
        try (JsonLines here = open(gateway, "/v3/maintenance/snapshot", "{}")) {
            await().atMost(PATIENCE).until(here::ended);
            ByteArrayOutputStream all = new ByteArrayOutputStream();
            for (String line : here.lines) {
                all.writeBytes(Base64.getDecoder()
                        .decode(new JsonObject(line).getJsonObject("result").getString("blob")));
            }
            byte[] bytes = all.toByteArray();
            int end = bytes.length - 32;
            assertThat(end).isGreaterThan(300_000);
            // etcd ends it with its digest.
            assertThat(MessageDigest.getInstance("SHA-256").digest(Arrays.copyOf(bytes, end)))
                    .isEqualTo(Arrays.copyOfRange(bytes, end, bytes.length));
        }
    }

    @Test
    void withoutForwardingStreamsThatWriteAreRejected() throws Exception {
        try (GatewayFixture own = new GatewayFixture(GatewayFixture.settings(SOURCE.cluster()))) {
            own.awaitReady();
            URI url = URI.create("http://127.0.0.1:" + own.gateway.apiPort());
            try (JsonLines refused = open(url, "/v3/lease/keepalive", "{\"ID\":5}")) {
                await().atMost(PATIENCE).until(refused::ended);
                assertThat(refused.head()).startsWith(GatewayFixture.VERSION.learnerRejectsForGood() ? "400 " : "503 ");
                assertThat(refused.lines).singleElement().asString().contains("rpc not supported for learner");
            }
        }
    }

    @Test
    void overHttp2RequestsAreAnsweredWhileOthersArrive() {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        overHttp2(lines, opened -> {
            String all = create("h2/", "h20", "") + "\n" + create("h2/a", "h2/b", ",\"watch_id\":5");
            // Neither part ends where a message does.
            write(opened, all.substring(0, all.length() - 10));
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(created(lines)).isEqualTo(1));
            put("h2/a", "1");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(String.join("", lines)).contains(base64("h2/a")));
            write(opened, all.substring(all.length() - 10));
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(created(lines)).isEqualTo(2));
            put("h2/a", "2");
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(String.join("", lines).split(base64("h2/a"), -1))
                            .hasSize(4));
        });
    }

    @Test
    void overHttp2RequestsAreAnsweredInTheirOrderWhateverTheirSize() {
        Queue<String> lines = new ConcurrentLinkedQueue<>();
        overHttp2(lines, opened -> {
            for (int id = 1; id <= 20; id++) {
                write(opened, create("x".repeat(id % 3 == 0 ? 100_000 : 1), "y", ",\"watch_id\":" + id));
            }
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(created(lines)).isEqualTo(20));
        });
        assertThat(Pattern.compile("\"watch_id\":\"(\\d+)\"")
                        .matcher(String.join("", lines))
                        .results())
                .extracting(found -> Integer.valueOf(found.group(1)))
                .isEqualTo(IntStream.rangeClosed(1, 20).boxed().toList());
    }

    /** A watch with a body that stays open meanwhile. */
    private static void overHttp2(Queue<String> lines, Consumer<Future<HttpClientRequest>> dialogue) {
        Vertx vertx = Vertx.vertx();
        // Kept in a variable: an unreachable client closes its connections.
        HttpClient client = vertx.createHttpClient(
                new HttpClientOptions().setProtocolVersion(HttpVersion.HTTP_2).setHttp2ClearTextUpgrade(false));
        Future<HttpClientRequest> opened = client.request(
                        HttpMethod.POST, gateway.getPort(), gateway.getHost(), "/v3/watch")
                .onSuccess(request -> {
                    // Data without a handler is dropped.
                    var unused = request.setChunked(true)
                            .response()
                            .onSuccess(response -> response.handler(part -> lines.add(part.toString())));
                });
        try {
            dialogue.accept(opened);
        } finally {
            // Otherwise closing waits for the stream's end.
            opened.onSuccess(HttpClientRequest::reset);
            var closing = client.close().eventually(vertx::close);
            await().atMost(PATIENCE).until(closing::isComplete);
        }
    }

    private static void write(Future<HttpClientRequest> opened, String part) {
        opened.onSuccess(request -> {
            var unused = request.write(part);
        });
    }

    private static int created(Queue<String> parts) {
        return String.join("", parts).split("\"created\":true", -1).length - 1;
    }

    private static JsonLines open(URI side, String path, String body, String... headers) {
        return new JsonLines(side.resolve(path), body, headers);
    }

    /** Asserts that both sides return the same {@code lines} lines first. */
    private static void assertAlike(String path, String body, int lines, String... headers) {
        fixture.awaitRevision(revision());
        try (JsonLines here = open(gateway, path, body, headers);
                JsonLines there = open(etcd, path, body, headers)) {
            await().atMost(PATIENCE)
                    .until(() -> !here.head().isEmpty()
                            && !there.head().isEmpty()
                            && here.lines.size() >= lines
                            && there.lines.size() >= lines);
            assertThat(here.lines)
                    .map(JsonLines::withoutParserWords)
                    .isEqualTo(there.lines.stream()
                            .map(JsonLines::withoutParserWords)
                            .toList())
                    .hasSize(lines);
            assertThat(here.head()).isEqualTo(there.head());
        }
    }

    private static List<String> events(JsonLines stream) {
        return stream.lines.stream().filter(line -> line.contains("\"events\"")).toList();
    }

    private static boolean isControl(String line) {
        return line.contains("\"created\"") || line.contains("\"canceled\"");
    }

    private static String create(String from, String to, String more) {
        return "{\"create_request\":{\"key\":\"" + base64(from) + "\",\"range_end\":\"" + base64(to) + "\"" + more
                + "}}";
    }

    private static String base64(String text) {
        return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static KVBlockingStub kv() {
        return GatewayFixture.kv(channel);
    }

    private static long revision() {
        return kv().range(GatewayFixture.everythingRequest()).getHeader().getRevision();
    }

    private static long put(String key, String value) {
        return kv().put(PutRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .setValue(ByteString.copyFromUtf8(value))
                        .build())
                .getHeader()
                .getRevision();
    }

    private static long delete(String key) {
        return kv().deleteRange(DeleteRangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(key))
                        .build())
                .getHeader()
                .getRevision();
    }
}
