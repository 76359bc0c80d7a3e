package io.understudy.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;

/**
 * One round: the candidates are asked one after the other until the first confirms. The next one's turn comes when the
 * one before has failed, or is silent for so long that waiting on would risk the deadline; the silent one may still win.
 * Attempts that come too late are left to end by themselves: they have the round's deadline, and how they end counts for
 * the next choice.
 *
 * <p>Callbacks of attempts and timers meet under the round's lock; results are completed outside of it.
 */
final class ReadIndexRound {

    private static final Duration LONGEST_SILENCE = Duration.ofMillis(500);

    private final List<Endpoint> candidates;
    private final BiFunction<Endpoint, Duration, CompletableFuture<ReadIndex>> attempts;
    private final long deadlineNanos;
    private final long silenceNanos;
    private final CompletableFuture<ReadIndex> result = new CompletableFuture<>();
    private final List<String> failures = new ArrayList<>();
    private int next;

    private ReadIndexRound(
            List<Endpoint> candidates,
            BiFunction<Endpoint, Duration, CompletableFuture<ReadIndex>> attempts,
            Duration deadline) {
        this.candidates = candidates;
        this.attempts = attempts;
        this.deadlineNanos = System.nanoTime() + deadline.toNanos();
        this.silenceNanos = Math.min(LONGEST_SILENCE.toNanos(), deadline.toNanos() / 4);
    }

    /**
     * Begins a round.
     *
     * @param attempts asks one endpoint within a deadline
     * @return fails with {@link EtcdUnavailableException} when all have failed, or the deadline has passed
     */
    static CompletableFuture<ReadIndex> run(
            List<Endpoint> candidates,
            BiFunction<Endpoint, Duration, CompletableFuture<ReadIndex>> attempts,
            Duration deadline) {
        ReadIndexRound round = new ReadIndexRound(List.copyOf(candidates), attempts, deadline);
        if (candidates.isEmpty()) {
            return CompletableFuture.failedFuture(
                    new EtcdUnavailableException("no read index: there is no endpoint to ask", null));
        }
        round.askNext(0);
        return round.result.orTimeout(deadline.toNanos(), TimeUnit.NANOSECONDS).exceptionally(failure -> {
            throw failure instanceof EtcdUnavailableException told ? told : round.timedOut(deadline);
        });
    }

    /** Asks the candidate at {@code turn}, unless that was done already. */
    private void askNext(int turn) {
        Endpoint endpoint;
        synchronized (this) {
            if (turn != next || result.isDone() || turn == candidates.size()) {
                return;
            }
            next++;
            endpoint = candidates.get(turn);
        }
        // The others may take over meanwhile; completing it in time, or ending the round, ends the wait.
        CompletableFuture<Void> silence =
                new CompletableFuture<Void>().completeOnTimeout(null, silenceNanos, TimeUnit.NANOSECONDS);
        Calls.whenDone(begin(endpoint), (index, failure) -> {
            silence.cancel(false);
            if (index != null) {
                result.complete(index);
            } else if (failure != null) {
                failed(endpoint, turn, failure);
            }
        });
        Calls.whenDone(silence, (nothing, cancelled) -> {
            if (cancelled == null) {
                askNext(turn + 1);
            }
        });
    }

    private CompletableFuture<ReadIndex> begin(Endpoint endpoint) {
        try {
            return attempts.apply(endpoint, Duration.ofNanos(Math.max(1, deadlineNanos - System.nanoTime())));
        } catch (RuntimeException e) {
            return CompletableFuture.failedFuture(e);
        }
    }

    private void failed(Endpoint endpoint, int turn, Throwable failure) {
        boolean all;
        synchronized (this) {
            failures.add(endpoint + ": " + failure.getMessage());
            all = failures.size() == candidates.size();
        }
        if (all) {
            result.completeExceptionally(new EtcdUnavailableException("no read index: " + told(), failure));
        } else {
            askNext(turn + 1);
        }
    }

    private EtcdUnavailableException timedOut(Duration deadline) {
        return new EtcdUnavailableException("no read index within " + deadline.toMillis() + " ms: " + told(), null);
    }

    private synchronized String told() {
        return "asked " + candidates.subList(0, next) + (failures.isEmpty() ? "" : ", failed " + failures);
    }
}
