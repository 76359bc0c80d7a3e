package io.understudy.gateway.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.understudy.gateway.api.ApiException;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

final class ByteBudgetTest {

    private final Vertx vertx = Vertx.vertx();
    private final ByteBudget budget = new ByteBudget(vertx, 100, 2);

    @AfterEach
    void close() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @Test
    void thereIsRoomUpToTheBudgetThenTheFirstWaitsAndTheOthersBehindIt() {
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
    void whatIsMoreThanTheBudgetHasAllOfIt() {
        ByteBudget.Hold all = take(1_000).result();
        assertThat(budget.held()).isEqualTo(100);
        all.release();
        assertThat(budget.held()).isZero();
    }

    @Test
    void whoWaitsInVainIsRefusedAndHoldsUpNobody() {
        ByteBudget.Hold most = take(90).result();
        Future<ByteBudget.Hold> large =
                budget.take(50, System.nanoTime() + Duration.ofMillis(100).toNanos());
        Future<ByteBudget.Hold> small = take(5);
        await().until(large::isComplete);
        assertThat(large.cause()).isInstanceOf(ApiException.class).hasMessage("etcdserver: too many requests");
        await().until(small::succeeded);
        most.release();
        assertThat(budget.held()).isEqualTo(5);
    }

    @Test
    void noMoreThanSomeWait() {
        ByteBudget.Hold all = take(100).result();
        Future<ByteBudget.Hold> second = take(1);
        Future<ByteBudget.Hold> third = take(1);
        assertThat(take(1).cause()).hasMessage("etcdserver: too many requests");
        all.release();
        await().until(() -> second.succeeded() && third.succeeded());
    }

    private Future<ByteBudget.Hold> take(long bytes) {
        return budget.take(bytes, System.nanoTime() + Duration.ofMinutes(1).toNanos());
    }
}
