package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Session;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Tests invariant S3. */
final class ByteBudgetTest {

    private final Vertx vertx = Vertx.vertx();
    private final ByteBudget budget = new ByteBudget(vertx, 100, 25, 2);
    private int clients;

    @AfterEach
    void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void requestsBeyondTheBudgetAreQueuedInOrder() {
        ByteBudget.Hold first = take(60).result();
        Future<ByteBudget.Hold> large = take(50);
        Future<ByteBudget.Hold> small = take(1);
        assertThat(large.isComplete()).isFalse();
        assertThat(small.isComplete()).isFalse();
        first.become(30);
        await().until(() -> large.isComplete() && small.isComplete());
        assertThat(budget.held()).isEqualTo(81);
        large.result().release();
        large.result().release();
        assertThat(budget.held()).isEqualTo(31);
    }

    @Test
    void aRequestAboveTheBudgetTakesAllOfIt() {
        ByteBudget.Hold all = take(1_000).result();
        assertThat(budget.held()).isEqualTo(100);
        all.release();
        assertThat(budget.held()).isZero();
    }

    @Test
    void anExpiredRequestIsRejectedAndBlocksNoOther() {
        ByteBudget.Hold most = take(90).result();
        Future<ByteBudget.Hold> large = budget.take(
                client(), 50, System.nanoTime() + Duration.ofMillis(100).toNanos());
        Future<ByteBudget.Hold> small = take(5);
        await().until(large::isComplete);
        assertThat(large.cause()).isInstanceOf(ApiException.class).hasMessage("etcdserver: too many requests");
        await().until(small::succeeded);
        most.release();
        assertThat(budget.held()).isEqualTo(5);
    }

    @Test
    void theQueueIsBounded() {
        ByteBudget.Hold all = take(100).result();
        Future<ByteBudget.Hold> second = take(1);
        Future<ByteBudget.Hold> third = take(1);
        assertThat(take(1).cause()).hasMessage("etcdserver: too many requests");
        all.release();
        await().until(() -> second.succeeded() && third.succeeded());
    }

    @Test
    void aSessionBeyondItsShareDelaysNoOther() {
        Session session = new Session();
        ByteBudget.Hold first = take(session, 20).result();
        Future<ByteBudget.Hold> second = take(session, 10);
        assertThat(second.isComplete()).isFalse();
        assertThat(take(70).succeeded()).isTrue();
        first.become(15);
        await().until(second::succeeded);
        assertThat(budget.held()).isEqualTo(95);
    }

    @Test
    void theSessionsOfAClientLeaveAShareToOthers() {
        List<ByteBudget.Hold> held = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            held.add(take(new Session(() -> "slow"), 25).result());
        }
        Future<ByteBudget.Hold> fourth = take(new Session(() -> "slow"), 25);
        assertThat(fourth.isComplete()).isFalse();
        assertThat(budget.takeNow(new Session(() -> "slow"), 1)).isNull();

        ByteBudget.Hold other = take(25).result();
        assertThat(budget.held()).isEqualTo(100);
        other.release();
        assertThat(fourth.isComplete()).isFalse();
        held.get(0).release();
        await().until(fourth::succeeded);
        assertThat(budget.held()).isEqualTo(75);
    }

    /** A kube-apiserver is one client. */
    @Test
    void aClientHasRoomForTwoOfTheLargestAnswers() {
        ByteBudget small = new ByteBudget(vertx, 128 << 20, 64 << 20, 2);
        for (int i = 0; i < 2; i++) {
            Future<ByteBudget.Hold> unlimited = small.take(
                    new Session(() -> "client"),
                    64 << 20,
                    System.nanoTime() + Duration.ofMinutes(1).toNanos());
            assertThat(unlimited.succeeded()).isTrue();
        }
    }

    @Test
    void anAnswerAboveTheShareIsHeldAlone() {
        Session session = new Session();
        ByteBudget.Hold large = take(session, 60).result();
        Future<ByteBudget.Hold> small = take(session, 1);
        assertThat(small.isComplete()).isFalse();
        large.release();
        await().until(small::succeeded);
        assertThat(budget.held()).isEqualTo(1);
    }

    @Test
    void anExpiredRequestIsReturnedToTheShare() {
        Session session = new Session();
        ByteBudget.Hold most = take(90).result();
        Future<ByteBudget.Hold> late = budget.take(
                session, 25, System.nanoTime() + Duration.ofMillis(100).toNanos());
        Future<ByteBudget.Hold> next = take(session, 20);
        await().until(late::failed);
        assertThat(next.isComplete()).isFalse();
        most.release();
        await().until(next::succeeded);
        assertThat(budget.held()).isEqualTo(20);
    }

    private Session client() {
        String name = "client-" + clients++;
        return new Session(() -> name);
    }

    /** Takes bytes for a new client. */
    private Future<ByteBudget.Hold> take(long bytes) {
        return take(client(), bytes);
    }

    private Future<ByteBudget.Hold> take(Session session, long bytes) {
        return budget.take(
                session, bytes, System.nanoTime() + Duration.ofMinutes(1).toNanos());
    }
}
