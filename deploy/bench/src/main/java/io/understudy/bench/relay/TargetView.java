package io.understudy.bench.relay;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Event;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.understudy.bench.BenchException;
import io.understudy.bench.Connections;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.IntConsumer;
import org.jspecify.annotations.Nullable;

/** Reads and watches a cluster that a relay writes to. */
public final class TargetView implements AutoCloseable {

    private static final long LOOK_MILLIS = 20;
    private static final ByteString FIRST = SourceLoad.key(0);
    private static final ByteString END = SourceLoad.key(999_999_999);

    private final ManagedChannel channel;
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

    /** Connects to that member. */
    public TargetView(URI member) {
        channel = Connections.to(member);
    }

    /** Waits until it holds that many keys. The last one is awaited first: counting loads the target. */
    public void awaitKeys(int count, Duration patience) throws InterruptedException {
        awaitKey(count - 1, patience);
        RangeRequest all = RangeRequest.newBuilder()
                .setKey(FIRST)
                .setRangeEnd(END)
                .setCountOnly(true)
                .build();
        await(
                count + " keys",
                patience,
                () -> Connections.blocking(channel).range(all).getCount() >= count);
    }

    /** Waits until it holds the key of that number. */
    public void awaitKey(int number, Duration patience) throws InterruptedException {
        RangeRequest one =
                RangeRequest.newBuilder().setKey(SourceLoad.key(number)).build();
        await(
                "key " + number,
                patience,
                () -> Connections.blocking(channel).range(one).getKvsCount() == 1);
    }

    /** The revision it is at. */
    public long revision() {
        RangeResponse answer = Connections.blocking(channel)
                .range(RangeRequest.newBuilder().setKey(FIRST).build());
        return answer.getHeader().getRevision();
    }

    /**
     * Watches all keys from now on; returns when the watch is there.
     *
     * @return when each key that was put was seen, by its number; filled as they are
     */
    public Map<Integer, Long> watch() throws InterruptedException {
        ConcurrentMap<Integer, Long> seen = new ConcurrentHashMap<>();
        watch(0, number -> seen.put(number, System.nanoTime()));
        return seen;
    }

    /**
     * Watches from a revision on, and waits until so many events are delivered.
     *
     * @return nanoseconds from the first to the last of them
     */
    public long awaitEvents(long fromRevision, int changes, Duration patience) throws InterruptedException {
        CountDownLatch missing = new CountDownLatch(changes);
        AtomicLong first = new AtomicLong();
        watch(fromRevision, number -> {
            first.compareAndSet(0, System.nanoTime());
            missing.countDown();
        });
        if (!missing.await(patience.toMillis(), TimeUnit.MILLISECONDS)) {
            throw new BenchException(
                    "a watch did not deliver " + changes + " changes within " + patience.toSeconds() + " s",
                    failure.get());
        }
        return System.nanoTime() - first.get();
    }

    /**
     * Watches all keys; returns when the watch is there.
     *
     * @param fromRevision 0 for from now on
     * @param seen receives the number of each key that was put, on a thread of the client
     */
    private void watch(long fromRevision, IntConsumer seen) throws InterruptedException {
        CountDownLatch created = new CountDownLatch(1);
        StreamObserver<WatchRequest> requests = WatchGrpc.newStub(channel)
                .withWaitForReady()
                .watch(new StreamObserver<>() {
                    @Override
                    public void onNext(WatchResponse response) {
                        created.countDown();
                        for (Event event : response.getEventsList()) {
                            int number = SourceLoad.number(event.getKv().getKey());
                            if (number >= 0) {
                                seen.accept(number);
                            }
                        }
                    }

                    @Override
                    public void onError(Throwable why) {
                        failure.compareAndSet(null, why);
                        created.countDown();
                    }

                    @Override
                    public void onCompleted() {}
                });
        requests.onNext(WatchRequest.newBuilder()
                .setCreateRequest(WatchCreateRequest.newBuilder()
                        .setKey(FIRST)
                        .setRangeEnd(END)
                        .setStartRevision(fromRevision))
                .build());
        if (!created.await(Connections.DEADLINE.toMillis(), TimeUnit.MILLISECONDS) || failure.get() != null) {
            throw new BenchException("watch not created", failure.get());
        }
    }

    private interface Condition {
        boolean holds();
    }

    private static void await(String what, Duration patience, Condition condition) throws InterruptedException {
        long end = System.nanoTime() + patience.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() > end) {
                throw new BenchException(what + " did not reach the target within " + patience.toSeconds() + " s");
            }
            TimeUnit.MILLISECONDS.sleep(LOOK_MILLIS);
        }
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
