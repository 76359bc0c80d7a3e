package io.understudy.gateway.rest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.gateway.api.States;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What REST does with the reads that it serves: their memory, their identity and their cluster.
 *
 * <p>Tests invariants H1, S3.
 */
@Timeout(60)
final class RestReadsTest {

    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int LARGE_BYTES = 1 << 20;

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
}
