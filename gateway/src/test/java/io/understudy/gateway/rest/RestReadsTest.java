package io.understudy.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Entries;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.States;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.read.Answer;
import io.understudy.gateway.replica.Entry;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.gateway.server.RawHttp2;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.vertx.core.Future;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What REST does with the reads that it serves: their memory, their identity and their cluster.
 *
 * <p>Tests invariants H1, S3.
 */
@Timeout(60)
final class RestReadsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int LARGE_BYTES = 1 << 20;
    private static final String BASIC =
            "Basic " + Base64.getEncoder().encodeToString("user:password".getBytes(StandardCharsets.UTF_8));

    private final RestServer server = new RestServer(state());

    private static ReplicaState state() {
        List<KeyValue> entries = new ArrayList<>();
        entries.add(States.entry("large", "v".repeat(LARGE_BYTES), 2, 2, 1));
        for (int i = 10; i < 30; i++) {
            entries.add(States.entry("long/" + i + "x".repeat(10_000), "", 2, 2, 1));
        }
        return States.of(KeyRange.all(), 9, entries);
    }

    @AfterEach
    void close() {
        server.close();
    }

    /** A read from the source counts until then. */
    @Test
    void everyReadOfATreeIsReleasedBeforeTheNext() throws Exception {
        AtomicInteger held = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        AtomicInteger reads = new AtomicInteger();
        server.interceptor = (caller, answer) -> {
            reads.incrementAndGet();
            most.accumulateAndGet(held.incrementAndGet(), Math::max);
            caller.whenOver().accept(held::decrementAndGet);
            return Future.succeededFuture(answer);
        };
        assertThat(server.get("/v1/tree?prefix=long/").statusCode()).isEqualTo(200);
        assertThat(reads).hasValueGreaterThan(20);
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(held).hasValue(0));
        assertThat(most).hasValue(1);
    }

    @Test
    void allTasksOfARequestRunOnceAfterIt() throws Exception {
        AtomicInteger first = new AtomicInteger();
        AtomicInteger second = new AtomicInteger();
        server.interceptor = (caller, answer) -> {
            caller.whenOver().accept(first::incrementAndGet);
            caller.whenOver().accept(second::incrementAndGet);
            return Future.succeededFuture(answer);
        };
        assertThat(server.get("/v1/kv/large").statusCode()).isEqualTo(200);
        await().atMost(PATIENCE).untilAsserted(() -> {
            assertThat(first).hasValue(1);
            assertThat(second).hasValue(1);
        });
    }

    @ParameterizedTest
    @ValueSource(strings = {"/v1/kv/large", "/v1/kv"})
    void entriesAreEncodedAsTheClientReads(String path) throws Exception {
        AtomicInteger kept = new AtomicInteger();
        AtomicInteger moved = new AtomicInteger();
        server.interceptor = (caller, answer) -> Future.succeededFuture(observed(answer, moved, kept));
        try (RawHttp2 client = withoutWindow()) {
            for (int i = 0; i < 10; i++) {
                get(client, 1 + 2 * i, path);
            }
            client.flush();
            for (int i = 0; i < 10; i++) {
                assertThat(client.next(RawHttp2.HEADERS)).isNotNull();
            }
            await().atMost(PATIENCE).untilAsserted(() -> assertThat(kept).hasValue(10));
            // For a key's tag, which is in the head.
            assertThat(moved).hasValue(path.endsWith("large") ? 10 : 0);
            client.frame(RawHttp2.WINDOW_UPDATE, 0, 1, RawHttp2.bytes(1));
            client.flush();
            assertThat(client.next(RawHttp2.DATA).stream()).isEqualTo(1);
        }
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(kept).hasValue(0));
        assertThat(server.get("/v1/kv/large").body()).hasSizeGreaterThan(LARGE_BYTES);
    }

    /** An answer that counts the bodies that wait, and the entries that were read. */
    private static Answer<RangeResult> observed(Answer<RangeResult> answer, AtomicInteger moved, AtomicInteger kept) {
        RangeResult result = answer.result();
        Entries entries = new Entries() {
            @Override
            public long size() {
                return result.entries().size();
            }

            @Override
            public Runnable keep(Runnable end) {
                kept.incrementAndGet();
                return kept::decrementAndGet;
            }

            @Override
            public Iterator<Entry> iterator() {
                Iterator<Entry> each = result.entries().iterator();
                return new Iterator<>() {
                    @Override
                    public boolean hasNext() {
                        return each.hasNext();
                    }

                    @Override
                    public Entry next() {
                        moved.incrementAndGet();
                        return each.next();
                    }
                };
            }
        };
        return new Answer<>(
                new RangeResult(result.header(), entries, result.fields(), result.more(), result.count()),
                answer.revision(),
                answer.staleness(),
                answer.provenance());
    }

    @Test
    void unreadTreesAreHeld() throws Exception {
        int bytes = server.get("/v1/tree?prefix=long/").body().length();
        try (RawHttp2 client = withoutWindow()) {
            for (int i = 0; i < 10; i++) {
                get(client, 1 + 2 * i, "/v1/tree?prefix=long/");
            }
            client.flush();
            await().atMost(PATIENCE)
                    .untilAsserted(() -> assertThat(server.held()).isEqualTo(10L * bytes));
        }
        await().atMost(PATIENCE).untilAsserted(() -> assertThat(server.held()).isZero());
    }

    @Test
    void unreadSamplesAreBounded() throws Exception {
        await().atMost(PATIENCE).until(() -> server.get("/v1/overview/samples").statusCode() == 200);
        try (RawHttp2 client = withoutWindow()) {
            for (int i = 0; i < 100; i++) {
                get(client, 1 + 2 * i, "/v1/overview/samples");
            }
            client.flush();
            for (int i = 0; i < 100; i++) {
                assertThat(client.next(RawHttp2.HEADERS)).isNotNull();
            }
            assertThat(server.get("/v1/overview/samples").statusCode()).isEqualTo(429);
        }
        await().atMost(PATIENCE).until(() -> server.get("/v1/overview/samples").statusCode() == 200);
    }

    /** Any change of users outdates all JWTs. */
    @Test
    void anOutdatedTokenIsRenewedOnce() throws Exception {
        ApiException outdated =
                new ApiException(Status.Code.INVALID_ARGUMENT, "etcdserver: revision of auth store is old");
        server.interceptor = (caller, answer) -> caller.principal().equals(new Principal.Token("token.1"))
                ? Future.failedFuture(outdated)
                : Future.succeededFuture(answer);
        HttpResponse<String> renewed = server.get("/v1/kv/large", "authorization", BASIC);
        assertThat(renewed.statusCode()).isEqualTo(200);
        assertThat(server.logins).hasValue(2);
        server.interceptor = (caller, answer) -> Future.failedFuture(outdated);
        HttpResponse<String> refused = server.get("/v1/kv/large", "authorization", BASIC);
        assertThat(refused.statusCode()).isEqualTo(401);
        assertThat(refused.headers().firstValue("www-authenticate")).isPresent();
        assertThat(server.logins).hasValue(3);
    }

    @Test
    void aLoginFromBeforeAuthenticationIsRenewed() throws Exception {
        server.authenticates = false;
        assertThat(server.get("/v1/kv/large", "authorization", BASIC).statusCode())
                .isEqualTo(200);
        server.authenticates = true;
        server.interceptor = (caller, answer) -> caller.principal().equals(Principal.ANONYMOUS)
                ? Future.failedFuture(ApiException.userNameEmpty())
                : Future.succeededFuture(answer);
        assertThat(server.get("/v1/kv/large", "authorization", BASIC).statusCode())
                .isEqualTo(200);
    }

    @Test
    void aCursorOfAnotherClusterIsGone() throws Exception {
        String cursor = new JsonObject(server.get("/v1/kv?limit=1").body()).getString("cursor");
        assertThat(server.get("/v1/kv?limit=1&cursor=" + cursor).statusCode()).isEqualTo(200);
        server.cluster = new ClusterId(0xc2);
        HttpResponse<String> gone = server.get("/v1/kv?limit=1&cursor=" + cursor);
        assertThat(gone.statusCode()).isEqualTo(410);
        assertThat(gone.body()).contains("OUT_OF_RANGE");
    }

    /** No body leaves the server. */
    private RawHttp2 withoutWindow() throws IOException {
        RawHttp2 client = new RawHttp2(server.port(), PATIENCE);
        client.frame(RawHttp2.SETTINGS, 0, 0, new byte[] {0, 4, 0, 0, 0, 0});
        return client;
    }

    private static void get(RawHttp2 client, int stream, String path) throws IOException {
        ByteArrayOutputStream get = new ByteArrayOutputStream();
        get.write(0x82);
        get.write(0x86);
        RawHttp2.literal(get, 0, ":path", path);
        RawHttp2.literal(get, 0, ":authority", "a");
        client.frame(RawHttp2.HEADERS, RawHttp2.END_HEADERS | RawHttp2.END_STREAM, stream, get.toByteArray());
    }
}
