package io.understudy.gateway;

import static io.understudy.gateway.GatewayFixture.PATIENCE;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc.KVBlockingStub;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.understudy.config.HostPort;
import io.understudy.gateway.rest.RestSettings;
import io.understudy.local.junit.EtcdExtension;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Streams of commits over REST, as browsers and scripts read them.
 *
 * <p>Tests invariant H2.
 */
@Timeout(120)
final class RestWatchIT {

    @RegisterExtension
    static final EtcdExtension SOURCE = EtcdExtension.voters(1).named("source");

    private static final Duration HEARTBEAT = Duration.ofMillis(200);
    private static final HttpClient HTTP =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private static GatewayFixture fixture;
    private static ManagedChannel channel;

    @BeforeAll
    static void start() throws Exception {
        URI url = SOURCE.cluster().clientUrls().get(0);
        channel = GatewayFixture.channel(url.getHost(), url.getPort());
        fixture = new GatewayFixture(settings(0));
        fixture.awaitReady();
    }

    @AfterAll
    static void stop() {
        channel.shutdownNow();
        fixture.close();
    }

    @Test
    void aCommitIsOneEventWithAllItsChanges() throws Exception {
        try (EventSource client = watch("prefix=one/&previous=true")) {
            awaitOpen(client);
            long first = put("one/a", "1");
            long second =
                    txn(put(utf8("one/a"), utf8("2")), put(utf8("one/b"), bytes(0xff)), put(utf8("two"), utf8("")));
            long third = delete("one/a");
            await().atMost(PATIENCE).until(() -> client.events.size() == 3);
            assertThat(client.events).extracting(EventSource.Event::type).containsOnly("message");
            assertThat(client.events)
                    .extracting(EventSource.Event::id)
                    .containsExactly(Long.toString(first), Long.toString(second), Long.toString(third));
            assertThat(new JsonObject(client.events.get(0).data()))
                    .isEqualTo(commit(first, change("put", "one/a", first, first, 1, "1")));
            assertThat(new JsonObject(client.events.get(1).data()))
                    .isEqualTo(commit(
                            second,
                            change("put", "one/a", first, second, 2, "2")
                                    .put("previous", key("one/a", first, first, 1, "1")),
                            change("put", "one/b", second, second, 1, "/w==").put("value_encoding", "base64")));
            assertThat(new JsonObject(client.events.get(2).data()))
                    .isEqualTo(commit(
                            third,
                            new JsonObject()
                                    .put("type", "delete")
                                    .put("key", "one/a")
                                    .put("key_encoding", "text")
                                    .put("mod_revision", third)
                                    .put("previous", key("one/a", first, second, 2, "2"))));
        }
    }

    @Test
    void pastCommitsAreDeliveredFromTheRequestedRevision() throws Exception {
        long first = put("past/a", "1");
        long second = put("past/a", "2");
        long third = put("past/a", "3");
        awaitRevision(third);
        try (EventSource all = watch("key=past/a&revision=" + first);
                EventSource some = watch("key=past/a&revision=" + third);
                EventSource deletes = watch("key=past/a&only=delete&revision=" + first)) {
            await().atMost(PATIENCE).until(() -> all.events.size() == 3 && some.events.size() == 1);
            assertThat(revisions(all)).containsExactly(first, second, third);
            assertThat(revisions(some)).containsExactly(third);
            long last = delete("past/a");
            await().atMost(PATIENCE).until(() -> deletes.events.size() == 1);
            assertThat(revisions(deletes)).containsExactly(last);
        }
    }

    @Test
    void quietClientsReceiveTheirRevisionWithoutAnEvent() throws Exception {
        try (EventSource client = watch("key=quiet/nothing")) {
            awaitOpen(client);
            long revision = put("quiet/other", "1");
            await().atMost(PATIENCE).until(() -> client.lastId().equals(Long.toString(revision)));
            assertThat(client.events).isEmpty();
            assertThat(client.connections()).isEqualTo(1);
        }
    }

    @Test
    void aFutureRevisionIsWaitedForAndNotSkipped() throws Exception {
        long now = put("future/a", "0");
        awaitRevision(now);
        try (EventSource client = watch("key=future/a&revision=" + (now + 3))) {
            awaitOpen(client);
            assertThat(client.lastId()).isEqualTo(Long.toString(now + 2));
            long third = IntStream.range(1, 4)
                    .mapToLong(i -> put("future/a", "" + i))
                    .max()
                    .orElseThrow();
            long fourth = put("future/a", "4");
            await().atMost(PATIENCE).until(() -> client.events.size() == 2);
            assertThat(revisions(client)).containsExactly(third, fourth);
        }
    }

    @Test
    void aBrowserResumesAfterARestartAndMissesNothing() throws Exception {
        GatewayFixture own = new GatewayFixture(settings(0));
        int port = own.gateway.restPort();
        try (EventSource client = new EventSource(url(port, "prefix=again/"))) {
            List<Long> written = new ArrayList<>();
            awaitOpen(client);
            written.add(put("again/a", "before"));
            await().atMost(PATIENCE).until(() -> client.events.size() == 1);
            own.close();
            written.add(put("again/b", "meanwhile"));
            own = new GatewayFixture(settings(port));
            await().atMost(PATIENCE).until(() -> client.connections() == 2);
            written.add(put("again/c", "after"));
            await().atMost(PATIENCE).until(() -> client.events.size() >= 3);
            assertThat(revisions(client)).isEqualTo(written);
        } finally {
            own.close();
        }
    }

    @Test
    void aCompactedResumeIsReportedAsAGapOrAnError() throws Exception {
        long first = put("gap/a", "1");
        long last = put("gap/a", "2");
        var unused = etcd().compact(CompactionRequest.newBuilder()
                .setRevision(last)
                .setPhysical(true)
                .build());
        // A fresh gateway has no history of earlier commits.
        try (GatewayFixture own = new GatewayFixture(settings(0))) {
            own.awaitReady();
            own.awaitRevision(last);
            int port = own.gateway.restPort();
            try (EventSource client = new EventSource(url(port, "key=gap/a&revision=" + first))) {
                await().atMost(PATIENCE).until(() -> !client.events.isEmpty());
                EventSource.Event gap = client.events.get(0);
                assertThat(gap.type()).isEqualTo("gap");
                // Not moved: a client that ignores the gap receives it again.
                assertThat(gap.id()).isEqualTo(Long.toString(first - 1));
                JsonObject data = new JsonObject(gap.data());
                assertThat(data.getLong("compact_revision")).isEqualTo(last);
                assertThat(data.getLong("revision")).isGreaterThanOrEqualTo(last);
            }
            HttpResponse<String> refused = send(url(port, "key=gap/a&revision=" + first), "Accept", "application/json");
            assertThat(refused.statusCode()).isEqualTo(410);
            assertThat(refused.headers().firstValue("content-type")).hasValue("application/problem+json");
            assertThat(new JsonObject(refused.body()).getString("code")).isEqualTo("OUT_OF_RANGE");
        }
    }

    @Test
    void clientsThatAcceptOnlyJsonReceiveLines() throws Exception {
        long first = put("lines/a", "1");
        awaitRevision(first);
        HttpResponse<Stream<String>> response = HTTP.send(
                HttpRequest.newBuilder(url(fixture.gateway.restPort(), "prefix=lines/&revision=" + first))
                        .header("Accept", "application/json")
                        .build(),
                BodyHandlers.ofLines());
        assertThat(response.statusCode()).isEqualTo(200);
        assertThat(response.headers().firstValue("content-type")).hasValue("application/json");
        try (Stream<String> lines = response.body()) {
            Iterator<JsonObject> received = lines.map(JsonObject::new).iterator();
            assertThat(received.next()).isEqualTo(commit(first - 1));
            assertThat(received.next()).isEqualTo(commit(first, change("put", "lines/a", first, first, 1, "1")));
            long second = put("elsewhere", "1");
            JsonObject next = received.next();
            while (next.getLong("revision") < second) {
                assertThat(next.getJsonArray("changes")).isEmpty();
                next = received.next();
            }
            assertThat(next).isEqualTo(commit(second));
        }
    }

    @Test
    void aClientThatDoesNotReadHoldsNothingUpAndMissesNothing() throws Exception {
        int writes = 100;
        String value = "x".repeat(100_000);
        try (SlowClient slow = new SlowClient(fixture.gateway.restPort(), "/v1/watch?prefix=slow/");
                EventSource other = watch("prefix=slow/")) {
            slow.awaitHead();
            awaitOpen(other);
            List<Long> written = new ArrayList<>();
            for (int i = 0; i < writes; i++) {
                written.add(put("slow/" + i % 7, value));
            }
            await().atMost(PATIENCE).until(() -> other.events.size() == writes);
            assertThat(revisions(other)).isEqualTo(written);
            assertThat(slow.readIds(writes)).isEqualTo(written);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "key=a&prefix=b",
                "key=",
                "key=a&revision=0",
                "key=a&revision=x",
                "key=a&previous=1",
                "key=a&only=both",
                "key=a&limit=1"
            })
    void invalidParametersAreABadRequest(String query) throws Exception {
        assertThat(send(url(fixture.gateway.restPort(), query)).statusCode()).isEqualTo(400);
    }

    @Test
    void otherHeadersAreCheckedToo() throws Exception {
        URI url = url(fixture.gateway.restPort(), "key=a");
        assertThat(send(url, "Last-Event-ID", "x").statusCode()).isEqualTo(400);
        assertThat(send(url, "Accept", "image/png").statusCode()).isEqualTo(406);
        assertThat(send(url, "Accept", "text/event-stream;q=0").statusCode()).isEqualTo(406);
    }

    @Test
    void theResponseHeadStatesTheHeartbeatInterval() throws Exception {
        HttpResponse<Void> head = HTTP.send(
                HttpRequest.newBuilder(url(fixture.gateway.restPort(), "key=a"))
                        .method("HEAD", HttpRequest.BodyPublishers.noBody())
                        .build(),
                BodyHandlers.discarding());
        assertThat(head.headers().firstValue("Understudy-Heartbeat-Ms")).contains(Long.toString(HEARTBEAT.toMillis()));
    }

    @Test
    void keysThatTheGatewayDoesNotHoldCanNotBeWatched() throws Exception {
        try (GatewayFixture part = new GatewayFixture(settings(0).withPrefix("part/"))) {
            part.awaitReady();
            HttpResponse<String> refused = send(url(part.gateway.restPort(), "prefix=par"));
            assertThat(refused.statusCode()).isEqualTo(400);
            assertThat(new JsonObject(refused.body()).getString("code")).isEqualTo("OUT_OF_RANGE");
        }
    }

    @Test
    void streamsAreCounted() throws Exception {
        try (EventSource client = watch("key=counted")) {
            awaitOpen(client);
            assertThat(fixture.page("/metrics").body()).containsPattern("understudy_gateway_rest_streams\\S* [1-9]");
        }
    }

    private static GatewaySettings settings(int port) {
        return GatewayFixture.settings(SOURCE.cluster())
                .with(new RestSettings(true, new HostPort("127.0.0.1", port), HEARTBEAT));
    }

    private static EventSource watch(String query) {
        return new EventSource(url(fixture.gateway.restPort(), query));
    }

    private static URI url(int port, String query) {
        return URI.create("http://127.0.0.1:" + port + "/v1/watch?" + query);
    }

    private static void awaitOpen(EventSource client) {
        await().atMost(PATIENCE).until(() -> !client.lastId().isEmpty());
    }

    private static void awaitRevision(long revision) {
        fixture.awaitRevision(revision);
    }

    private static List<Long> revisions(EventSource client) {
        return client.events.stream()
                .map(event -> new JsonObject(event.data()).getLong("revision"))
                .toList();
    }

    private static HttpResponse<String> send(URI url, String... headers) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(url).timeout(Duration.ofSeconds(30));
        return HTTP.send(
                headers.length == 0 ? request.build() : request.headers(headers).build(), BodyHandlers.ofString());
    }

    private static JsonObject commit(long revision, JsonObject... changes) {
        return new JsonObject().put("revision", revision).put("changes", new JsonArray(Arrays.asList(changes)));
    }

    private static JsonObject change(String type, String key, long created, long modified, long version, String value) {
        return new JsonObject().put("type", type).mergeIn(key(key, created, modified, version, value));
    }

    private static JsonObject key(String key, long created, long modified, long version, String value) {
        return new JsonObject()
                .put("key", key)
                .put("key_encoding", "text")
                .put("value", value)
                .put("value_encoding", "text")
                .put("create_revision", created)
                .put("mod_revision", modified)
                .put("version", version);
    }

    private static KVBlockingStub etcd() {
        return GatewayFixture.kv(channel);
    }

    private static ByteString utf8(String text) {
        return ByteString.copyFromUtf8(text);
    }

    private static ByteString bytes(int one) {
        return ByteString.copyFrom(new byte[] {(byte) one});
    }

    private static PutRequest put(ByteString key, ByteString value) {
        return PutRequest.newBuilder().setKey(key).setValue(value).build();
    }

    private static long put(String key, String value) {
        return etcd().put(put(utf8(key), utf8(value))).getHeader().getRevision();
    }

    private static long txn(PutRequest... puts) {
        TxnRequest.Builder txn = TxnRequest.newBuilder();
        for (PutRequest put : puts) {
            txn.addSuccess(RequestOp.newBuilder().setRequestPut(put));
        }
        return etcd().txn(txn.build()).getHeader().getRevision();
    }

    private static long delete(String key) {
        return etcd().deleteRange(
                        DeleteRangeRequest.newBuilder().setKey(utf8(key)).build())
                .getHeader()
                .getRevision();
    }
}
