package io.understudy.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One round: candidates are tried in turn until the first confirms. The next is tried when the one before has failed,
 * or is silent for so long that waiting on would risk the deadline; the silent one may still win. Late attempts end by
 * themselves at the round's deadline, and their results count for the next choice.
 *
 * <p>All of it runs on one thread, timers and results included.
 */
final class ReadIndexRound {

    private static final Duration LONGEST_SILENCE = Duration.ofMillis(250);

    private final BiFunction<Endpoint, Duration, CompletableFuture<ReadIndex>> attempts;
    private final Duration deadline;
    private final ScheduledExecutorService thread;
    private final long deadlineNanos;
    private final CompletableFuture<ReadIndex> result = new CompletableFuture<>();
    private final List<String> failures = new ArrayList<>();
    private List<Endpoint> candidates = List.of();
    private int next;
    private @Nullable Future<?> deadlineTimer;
    private @Nullable Future<?> silenceTimer;

    private ReadIndexRound(
            BiFunction<Endpoint, Duration, CompletableFuture<ReadIndex>> attempts,
            Duration deadline,
            ScheduledExecutorService thread) {
        this.attempts = attempts;
        this.deadline = deadline;
        this.thread = thread;
        this.deadlineNanos = System.nanoTime() + deadline.toNanos();
    }

    /**
     * Begins a round.
     *
     * @param candidates in the order to try them; called on the thread
     * @param attempts makes one attempt within a deadline; called on the thread, and best completes there
     * @return fails with {@link EtcdUnavailableException} when all have failed, or the deadline has passed
     */
    static CompletableFuture<ReadIndex> run(
            Supplier<List<Endpoint>> candidates,
            BiFunction<Endpoint, Duration, CompletableFuture<ReadIndex>> attempts,
            Duration deadline,
            ScheduledExecutorService thread) {
        ReadIndexRound round = new ReadIndexRound(attempts, deadline, thread);
        round.onThread(() -> round.begin(candidates));
        return round.result;
    }

    private void begin(Supplier<List<Endpoint>> suppliedCandidates) {
        try {
            candidates = suppliedCandidates.get();
            if (candidates.isEmpty()) {
                fail("read index failed: no endpoint available", null);
                return;
            }
            deadlineTimer = after(deadlineNanos - System.nanoTime(), this::timedOut);
            attemptNext(0);
        } catch (RuntimeException e) {
            fail("read index failed: " + FailureText.of(e), e);
        }
    }

    /** Tries the candidate at {@code turn}, unless that was done already. */
    private void attemptNext(int turn) {
        if (turn != next || result.isDone() || turn == candidates.size()) {
            return;
        }
        next++;
        stop(silenceTimer);
        silenceTimer = next == candidates.size()
                ? null
                : after(Math.min(LONGEST_SILENCE.toNanos(), deadline.toNanos() / 4), () -> attemptNext(turn + 1));
        Endpoint endpoint = candidates.get(turn);
        Calls.whenDone(
                Calls.attempt(() ->
                        attempts.apply(endpoint, Duration.ofNanos(Math.max(1, deadlineNanos - System.nanoTime())))),
                (index, failure) -> onThread(() -> {
                    if (index != null) {
                        confirmed(index);
                    } else if (failure != null) {
                        failed(endpoint, turn, failure);
                    }
                }));
    }

    private void confirmed(ReadIndex index) {
        stopTimers();
        result.complete(index);
    }

    private void failed(Endpoint endpoint, int turn, Throwable failure) {
        failures.add(endpoint + ": " + FailureText.of(failure));
        if (failures.size() == candidates.size()) {
            fail("read index failed: " + attempted(), failure);
        } else {
            attemptNext(turn + 1);
        }
    }

    private void timedOut() {
        fail("read index timed out after " + deadline.toMillis() + " ms: " + attempted(), null);
    }

    private void fail(String what, @Nullable Throwable why) {
        stopTimers();
        result.completeExceptionally(new EtcdUnavailableException(what, why));
    }

    private String attempted() {
        return "tried " + candidates.subList(0, next) + (failures.isEmpty() ? "" : ", failed " + failures);
    }

    private void onThread(Runnable work) {
        try {
            thread.execute(work);
        } catch (RejectedExecutionException e) {
            result.completeExceptionally(new EtcdUnavailableException("read index failed: client is closed", e));
        }
    }

    private Future<?> after(long nanos, Runnable work) {
        return thread.schedule(work, nanos, TimeUnit.NANOSECONDS);
    }

    private void stopTimers() {
        stop(deadlineTimer);
        stop(silenceTimer);
    }

    private static void stop(@Nullable Future<?> timer) {
        if (timer != null) {
            boolean unused = timer.cancel(false);
        }
    }
}
