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
import io.understudy.bench.Connections;
import io.understudy.bench.Latencies;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
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
    private final String prefix;
    private final int valueBytes;
    private final Random values = new Random(20_260_101);
    private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    private int next;

    /** Connects to that member. */
    public SourceLoad(URI member) {
        this(member, PREFIX, VALUE_BYTES);
    }

    /** Puts other keys with larger values. */
    public SourceLoad(URI member, String prefix, int valueBytes) {
        this.channel = Connections.to(member);
        this.prefix = prefix;
        this.valueBytes = valueBytes;
    }

    public static ByteString key(int number) {
        return key(PREFIX, number);
    }

    private static ByteString key(String prefix, int number) {
        return ByteString.copyFromUtf8(String.format(Locale.ROOT, "%s%09d", prefix, number));
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
            var unused = Connections.blocking(channel).txn(transaction.build());
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
            Connections.stub(channel).put(put(), new StreamObserver<>() {
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
        KVGrpc.KVBlockingStub calls = Connections.blocking(channel);
        RangeResponse last =
                calls.range(RangeRequest.newBuilder().setKey(key(0)).build());
        var unused = calls.compact(CompactionRequest.newBuilder()
                .setRevision(last.getHeader().getRevision())
                .build());
    }

    private PutRequest put() {
        byte[] value = new byte[valueBytes];
        values.nextBytes(value);
        ByteBuffer.wrap(value).putInt(next);
        return PutRequest.newBuilder()
                .setKey(key(prefix, next++))
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

    /**
     * Puts at a steady rate, of each of which is known when the source acknowledged it.
     *
     * @param acknowledgedNanos by the number of its key
     */
    public record SteadyPuts(Map<Integer, Long> acknowledgedNanos) {

        public SteadyPuts {
            acknowledgedNanos = Map.copyOf(acknowledgedNanos);
        }

        /** Puts for that long; returns when all are acknowledged. */
        public static SteadyPuts put(SourceLoad load, int perSecond, Duration duration) throws InterruptedException {
            ConcurrentMap<Integer, Long> acknowledged = new ConcurrentHashMap<>();
            load.paced(perSecond, duration, number -> acknowledged.put((int) number, System.nanoTime()));
            return new SteadyPuts(acknowledged);
        }

        public int count() {
            return acknowledgedNanos.size();
        }

        /**
         * How long after its acknowledgement each was seen somewhere.
         *
         * @param seen when each key was, by its number; still filled
         * @throws BenchException one was not seen
         */
        public Latencies until(Map<Integer, Long> seen, Duration patience) {
            Waiting.until(
                    patience,
                    () -> seen.keySet().containsAll(acknowledgedNanos.keySet()) ? Optional.of(seen) : Optional.empty(),
                    () -> new BenchException("not all puts were visible within " + patience.toSeconds() + " s"));
            return Latencies.of(acknowledgedNanos.entrySet().stream()
                    .mapToLong(put -> Math.max(0, (seen.getOrDefault(put.getKey(), 0L) - put.getValue()) / 1_000))
                    .toArray());
        }
    }
}
