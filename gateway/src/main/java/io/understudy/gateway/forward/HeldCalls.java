package io.understudy.gateway.forward;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Limits how many calls of a gateway wait unsent, and their bytes. For any thread. */
final class HeldCalls {

    static final int MAX_CALLS = 10_000;
    static final long MAX_BYTES = 64L << 20;

    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicLong bytes = new AtomicLong();

    int count() {
        return calls.get();
    }

    /**
     * Has a call wait for a condition.
     *
     * @param condition fails by this when the time is over
     * @param then run on {@code loop}, with whether the condition was met in time
     * @return whether there is room; if not, nothing is run
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
