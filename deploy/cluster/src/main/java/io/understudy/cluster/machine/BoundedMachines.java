package io.understudy.cluster.machine;

import io.understudy.etcd.EtcdVersion;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Limits the wait for each request to a machine, as with a frozen disk. Each machine has at most one request, on its
 * own thread. A late request throws {@link MachineBusyException}, as do all others to that machine until it has ended.
 * Thread-safe.
 */
public final class BoundedMachines implements Machines, AutoCloseable {

    /** Shorter than the time in which a supervisor must stop. */
    private static final Duration CLOSE_DEADLINE = Duration.ofSeconds(8);

    private final Machines machines;
    private final Duration patience;
    private final Map<String, Lane> lanes = new ConcurrentHashMap<>();
    private final ExecutorService threads = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task, "machine");
        thread.setDaemon(true);
        return thread;
    });

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
    public void found(MemberSpec member, String initialCluster, String token) {
        order(member, "first start", () -> machines.found(member, initialCluster, token));
    }

    @Override
    public void join(MemberSpec member, String initialCluster) {
        order(member, "start without data", () -> machines.join(member, initialCluster));
    }

    @Override
    public void resumeJoining(MemberSpec member) {
        order(member, "start without data", () -> machines.resumeJoining(member));
    }

    @Override
    public void letGo(MemberSpec member) {
        order(member, "end of the join throttle", () -> machines.letGo(member));
    }

    @Override
    public OptionalLong received(MemberSpec member) {
        return read(member, "read of the received snapshot", () -> machines.received(member));
    }

    @Override
    public void start(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        order(member, "start", () -> machines.start(member, settings));
    }

    @Override
    public void start(MemberSpec member) {
        order(member, "start", () -> machines.start(member));
    }

    @Override
    public Optional<String> programFailure(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        return read(member, "start of its program", () -> machines.programFailure(member, settings));
    }

    @Override
    public EtcdVersion programVersion(MemberSpec member) {
        return read(member, "start of its program", () -> machines.programVersion(member));
    }

    @Override
    public Optional<String> maxLearners(MemberSpec member) {
        return read(member, "read of the limit of learners", () -> machines.maxLearners(member));
    }

    @Override
    public void stop(MemberSpec member) {
        order(member, "stop", () -> machines.stop(member));
    }

    @Override
    public void retire(MemberSpec member) {
        order(member, "stop of the removed member", () -> machines.retire(member));
    }

    @Override
    public void copyData(MemberSpec member) {
        order(member, "copy of the data", () -> machines.copyData(member));
    }

    @Override
    public Optional<Boolean> isRunning(MemberSpec member) {
        return read(member, "read of the process state", () -> machines.isRunning(member));
    }

    @Override
    public OptionalLong freeBytes(MemberSpec member) {
        return read(member, "read of the free disk space", () -> machines.freeBytes(member));
    }

    @Override
    public boolean isInUse(MemberSpec member) {
        return read(member, "check of the data directory", () -> machines.isInUse(member));
    }

    @Override
    public Optional<DataOwner> owner(MemberSpec member) {
        return read(member, "read of the data's owner", () -> machines.owner(member));
    }

    @Override
    public Optional<String> moveFailure(MemberSpec from, MemberSpec to) {
        return read(from, "check of the data", () -> machines.moveFailure(from, to));
    }

    @Override
    public void moveData(MemberSpec from, MemberSpec to) {
        order(from, "move of the data", () -> machines.moveData(from, to));
    }

    @Override
    public List<String> endOfLog(MemberSpec member) {
        return read(member, "read of the log", () -> machines.endOfLog(member));
    }

    private void order(MemberSpec member, String name, Runnable work) {
        var unused = request(member, name, true, () -> {
            work.run();
            return member;
        });
    }

    private <T> T read(MemberSpec member, String name, Supplier<T> work) {
        return request(member, name, false, work);
    }

    private <T> T request(MemberSpec member, String name, boolean isOrder, Supplier<T> work) {
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
                    T value = work.get();
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
