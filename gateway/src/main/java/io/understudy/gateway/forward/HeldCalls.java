package io.understudy.gateway.forward;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Limits the unsent calls of a gateway, by number and bytes. Thread-safe. */
final class HeldCalls {

    static final int MAX_CALLS = 10_000;
    static final long MAX_BYTES = 64L << 20;

    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();

    int count() {
        return calls.get();
    }

    /**
     * Holds a call until a condition is met.
     *
     * @param condition failed by this at the timeout
     * @param then run on {@code loop}, with whether the condition was met in time
     * @return false if there is no capacity; then nothing is run
     */
    boolean hold(
            byte @Nullable [] request,
            CompletableFuture<?> condition,
            long untilNanos,
            Executor loop,
            Consumer<Boolean> then) {
        int size = request == null ? 0 : request.length;
        boolean fits = calls.incrementAndGet() <= MAX_CALLS;
        if (bytes.addAndGet(size) > MAX_BYTES || !fits) {
            release(size);
            return false;
        }
        long left = Math.max(0, untilNanos - System.nanoTime());
        var unused = condition.orTimeout(left, TimeUnit.NANOSECONDS).whenComplete((met, failed) -> {
            release(size);
            loop.execute(() -> then.accept(failed == null));
        });
        return true;
    }

    private void release(int size) {
        calls.decrementAndGet();
        bytes.addAndGet(-size);
    }
}
