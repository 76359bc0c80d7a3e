package io.understudy.etcd;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Shares rounds between callers: those that arrive during a round share the next. None joins the round under way, since
 * it was sent before their requests.
 *
 * <p>Invariant E6: a read index covers every write acknowledged before its request, also through a stalled learner, and
 * a shared round starts after its callers arrive.
 */
final class ReadIndexQueue {

    private final Function<Duration, CompletableFuture<ReadIndex>> rounds;
    private boolean underWay;
    private @Nullable Waiting waiting;

    /** @param rounds begins a round that ends by a deadline */
    ReadIndexQueue(Function<Duration, CompletableFuture<ReadIndex>> rounds) {
        this.rounds = rounds;
    }

    /** Callers of the next round, and the latest of their deadlines. */
    private static final class Waiting {
        private final CompletableFuture<ReadIndex> result = new CompletableFuture<>();
        private long deadlineNanos = System.nanoTime();
    }

    CompletableFuture<ReadIndex> submit(Duration deadline) {
        CompletableFuture<ReadIndex> shared;
        boolean first;
        synchronized (this) {
            if (waiting == null) {
                waiting = new Waiting();
            }
            long wanted = System.nanoTime() + deadline.toNanos();
            if (wanted - waiting.deadlineNanos > 0) {
                waiting.deadlineNanos = wanted;
            }
            shared = waiting.result;
            first = !underWay;
            underWay = true;
        }
        // A copy: what one caller does to its future is nothing to the others.
        CompletableFuture<ReadIndex> own = shared.copy()
                .orTimeout(deadline.toNanos(), TimeUnit.NANOSECONDS)
                .exceptionally(failure -> {
                    throw toUnavailable(failure, deadline);
                });
        if (first) {
            runNext();
        }
        return own;
    }

    private void runNext() {
        Waiting round;
        synchronized (this) {
            round = waiting;
            waiting = null;
            if (round == null) {
                underWay = false;
                return;
            }
        }
        long left = round.deadlineNanos - System.nanoTime();
        if (left <= 0) {
            // All of them are complete already; a round without callers would only delay others.
            runNext();
            return;
        }
        Calls.whenDone(Calls.attempt(() -> rounds.apply(Duration.ofNanos(left))), (index, failure) -> {
            runNext();
            if (index != null) {
                round.result.complete(index);
            } else if (failure != null) {
                round.result.completeExceptionally(failure);
            }
        });
    }

    private static EtcdUnavailableException toUnavailable(Throwable failure, Duration deadline) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        if (cause instanceof EtcdUnavailableException unavailable) {
            return unavailable;
        }
        return new EtcdUnavailableException(
                cause instanceof TimeoutException
                        ? "read index timed out after " + deadline.toMillis() + " ms"
                        : "read index failed: " + FailureText.of(cause),
                cause);
    }
}
