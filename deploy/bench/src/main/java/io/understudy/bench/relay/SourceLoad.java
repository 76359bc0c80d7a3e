package io.understudy.bench.relay;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import io.understudy.bench.BenchException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** Puts keys with values of 256 bytes, each put a key of its own number. For one thread. */
public final class SourceLoad implements AutoCloseable {

    public static final int VALUE_BYTES = 256;
    /** Of one transaction of {@link #bulk}: all that etcd takes at once. */
    public static final int KEYS_PER_TRANSACTION = 128;

    private static final String PREFIX = "bench/mirror/";

    private final ManagedChannel channel;
    private final Random values = new Random(20_260_101);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private int next;

    /** Connects to that member. */
    public SourceLoad(URI member) {
        channel = RelayConnections.to(member);
    }

    public static ByteString key(int number) {
        return ByteString.copyFromUtf8(String.format(Locale.ROOT, "%s%09d", PREFIX, number));
    }

    /** The number of a key of {@link #key}; -1 if it is none. */
    public static int number(ByteString key) {
        return key.size() == PREFIX.length() + 9 && key.startsWith(ByteString.copyFromUtf8(PREFIX))
                ? Integer.parseInt(key.substring(PREFIX.length()).toStringUtf8())
                : -1;
    }

    /** How many keys were put so far: the next one's number. */
    public int count() {
        return next;
    }

    /** Puts that many keys, as fast as transactions can. */
    public void bulk(int keys) {
        int end = next + keys;
        while (next < end) {
            TxnRequest.Builder transaction = TxnRequest.newBuilder();
            for (int i = 0; i < KEYS_PER_TRANSACTION && next < end; i++) {
                transaction.addSuccess(RequestOp.newBuilder().setRequestPut(put()));
            }
            var unused = RelayConnections.blocking(channel).txn(transaction.build());
        }
    }

    /** Puts that many keys in commits of their own, many at a time. */
    public void singly(int keys, int writers) throws InterruptedException {
        int end = next + keys;
        write(writers, () -> next < end, sent -> {});
    }

    /** Puts for that long, each of the writers one key after the other. */
    public void writers(int writers, Duration duration) throws InterruptedException {
        long end = System.nanoTime() + duration.toNanos();
        write(writers, () -> System.nanoTime() < end, sent -> {});
    }

    /**
     * Puts at a steady rate for that long.
     *
     * @param acknowledged receives the number of each put when it is acknowledged, on a thread of the client
     */
    public void paced(int perSecond, Duration duration, LongConsumer acknowledged) throws InterruptedException {
        long began = System.nanoTime();
        long pause = TimeUnit.SECONDS.toNanos(1) / perSecond;
        AtomicLong due = new AtomicLong(began);
        write(
                perSecond,
                () -> {
                    long wait = due.getAndAdd(pause) - System.nanoTime();
                    if (wait > 0) {
                        TimeUnit.NANOSECONDS.sleep(wait);
                    }
                    return System.nanoTime() - began < duration.toNanos();
                },
                acknowledged);
    }

    private interface More {
        boolean more() throws InterruptedException;
    }

    private void write(int inFlight, More more, LongConsumer acknowledged) throws InterruptedException {
        Semaphore free = new Semaphore(inFlight);
        while (more.more()) {
            free.acquire();
            check();
            int number = next;
            RelayConnections.stub(channel).put(put(), new StreamObserver<>() {
                @Override
                public void onNext(PutResponse response) {
                    acknowledged.accept(number);
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
        }
        free.acquire(inFlight);
        check();
    }

    /** Removes the history before the last put. */
    public void compact() {
        KVGrpc.KVBlockingStub calls = RelayConnections.blocking(channel);
        RangeResponse last =
                calls.range(RangeRequest.newBuilder().setKey(key(0)).build());
        var unused = calls.compact(CompactionRequest.newBuilder()
                .setRevision(last.getHeader().getRevision())
                .build());
    }

    private PutRequest put() {
        byte[] value = new byte[VALUE_BYTES];
        values.nextBytes(value);
        ByteBuffer.wrap(value).putInt(next);
        return PutRequest.newBuilder()
                .setKey(key(next++))
                .setValue(ByteString.copyFrom(value))
                .build();
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
