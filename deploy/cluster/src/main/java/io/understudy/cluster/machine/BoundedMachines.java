package io.understudy.cluster.machine;

import io.understudy.cluster.machine.Machines.MachineBusyException;
import io.understudy.vocabulary.DaemonThreads;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Limits the wait for each request to a machine, as with a frozen disk. Each machine has at most one request, on its
 * own thread. A late request throws {@link MachineBusyException}, as do all others to that machine until it has ended.
 * Thread-safe.
 */
public final class BoundedMachines extends DelegatingMachines implements AutoCloseable {

    /** Shorter than the time in which a supervisor must stop. */
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(8);

    private final Machines machines;
    private final Duration patience;
    private final Map<String, Lane> lanes = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool(DaemonThreads.named("machine"));

    /** @param patience maximum time that a caller waits */
    public BoundedMachines(Machines machines, Duration patience) {
        this.machines = machines;
        this.patience = patience;
    }

    private record Begun(String request, long since) {

        Duration elapsed() {
            return Duration.ofNanos(System.nanoTime() - since);
        }
    }

    /** The requests to one machine. */
    private static final class Lane {
        private final Semaphore free = new Semaphore(1, true);
        /** The current request; null for none. */
        private volatile @Nullable Begun begun;

        boolean isLate(Duration patience) {
            Begun now = begun;
            return now != null && now.elapsed().compareTo(patience) > 0;
        }

        void release() {
            begun = null;
            free.release();
        }
    }

    @Override
    public List<MemberSpec> places() {
        return machines.places();
    }

    @Override
    <T> T pass(MemberSpec member, String name, boolean isOrder, Function<Machines, T> request) {
        Lane lane = lanes.computeIfAbsent(member.name(), unused -> new Lane());
        long end = System.nanoTime() + patience.toNanos();
        try {
            if (lane.isLate(patience) || !lane.free.tryAcquire(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                throw late(member, lane, name + " not begun", null);
            }
            lane.begun = new Begun(name, System.nanoTime());
            CompletableFuture<T> result = new CompletableFuture<>();
            threads.execute(() -> {
                try {
                    T value = request.apply(machines);
                    lane.release();
                    result.complete(value);
                } catch (RuntimeException | Error e) {
                    lane.release();
                    result.completeExceptionally(e);
                }
            });
            try {
                return result.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                throw isOrder
                        ? late(member, lane, "it may still be carried out", result)
                        : late(member, lane, "nothing was changed", null);
            }
        } catch (ExecutionException e) {
            throw e.getCause() instanceof RuntimeException failure ? failure : new IllegalStateException(e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted during a request to the machine of " + member.name(), e);
        }
    }

    private static MachineBusyException late(
            MemberSpec member, Lane lane, String state, @Nullable CompletableFuture<?> end) {
        Begun begun = lane.begun;
        String busy = begun == null
                ? "busy"
                : begun.request() + " not completed after " + begun.elapsed().toMillis() + " ms";
        return new MachineBusyException("machine of " + member.name() + ": " + busy + "; " + state, end);
    }

    /** Waits for current requests, for a few seconds at most. Idempotent. */
    @Override
    public void close() {
        threads.shutdown();
        try {
            var unused = threads.awaitTermination(CLOSE_DEADLINE.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
