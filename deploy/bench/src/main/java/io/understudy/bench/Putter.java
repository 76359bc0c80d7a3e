package io.understudy.bench;

import io.etcd.jetcd.api.PutResponse;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.understudy.bench.Watchers.WatchedKeys;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Puts at a voter, always the one that leads. For one thread. */
final class Putter implements AutoCloseable {

    private static final int MAX_UNACKNOWLEDGED = 128;

    private final ManagedChannel channel;
    private final WatchedKeys keys = new WatchedKeys();
    private final Semaphore free = new Semaphore(MAX_UNACKNOWLEDGED);
    private final List<Put> puts = new ArrayList<>();
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /**
     * One of them; times by {@link System#nanoTime}.
     *
     * @param acknowledged zero as long as it isn't
     */
    record Put(long sent, AtomicLong acknowledged) {}

    Putter(URI leader, Access access) {
        channel = Connections.to(leader, access.onEachCall());
    }

    /**
     * Sends the next put, with the number of those before it; waits while too many are not acknowledged.
     *
     * @throws BenchException one failed
     */
    void put() throws InterruptedException {
        free.acquire();
        check();
        Put put = new Put(System.nanoTime(), new AtomicLong());
        Connections.stub(channel).put(keys.put(puts.size()), new StreamObserver<>() {
            @Override
            public void onNext(PutResponse response) {
                put.acknowledged().set(System.nanoTime());
            }

            @Override
            public void onError(Throwable why) {
                failure.compareAndSet(null, why);
                free.release();
            }

            @Override
            public void onCompleted() {
                free.release();
            }
        });
        puts.add(put);
    }

    int count() {
        return puts.size();
    }

    /**
     * Waits until all are acknowledged.
     *
     * @throws BenchException one failed
     */
    List<Put> awaitAll() throws InterruptedException {
        free.acquire(MAX_UNACKNOWLEDGED);
        free.release(MAX_UNACKNOWLEDGED);
        check();
        return List.copyOf(puts);
    }

    private void check() {
        Throwable why = failure.get();
        if (why != null) {
            throw new BenchException("a put failed", why);
        }
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
