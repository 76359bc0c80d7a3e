package io.understudy.bench.cluster;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.PutResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.stub.StreamObserver;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.bench.BenchException;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A client that puts at a steady rate and retries each put at the next member until it is acknowledged.
 *
 * <p>Each put has a key of its own, so that sending one again does no harm and all can be counted later.
 */
final class SteadyWriter implements AutoCloseable {

    private static final String PREFIX = "bench/cluster/";
    private static final String PAST_PREFIX = "bench/cluster0";
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration DEADLINE = Duration.ofSeconds(2);
    private static final long AGAIN_MILLIS = 10;
    private static final int VALUE_BYTES = 256;
    private static final ByteString VALUE = ByteString.copyFrom(new byte[VALUE_BYTES]);

    private final EtcdCluster cluster;
    private final ScheduledFuture<?> clock;
    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger acknowledged = new AtomicInteger();
    private final Queue<Put> done = new ConcurrentLinkedQueue<>();

    /**
     * One acknowledged put.
     *
     * @param nanos when it was acknowledged
     * @param tookNanos since it was due
     */
    record Put(long nanos, long tookNanos) {}

    /** Starts to put. */
    SteadyWriter(List<URI> members, int perSecond) {
        cluster = EtcdCluster.connect(
                EtcdSettings.of(members.toArray(URI[]::new)).withName("bench-writer"), new SimpleMeterRegistry());
        long pause = TimeUnit.SECONDS.toNanos(1) / perSecond;
        clock = cluster.thread().scheduleAtFixedRate(this::begin, pause, pause, TimeUnit.NANOSECONDS);
    }

    private void begin() {
        send(begun.getAndIncrement(), System.nanoTime());
    }

    private void send(int number, long dueNanos) {
        Endpoint endpoint = cluster.endpointsFor(Duty.WRITE).get(0);
        KVGrpc.newStub(cluster.channel(endpoint))
                .withDeadlineAfter(DEADLINE.toMillis(), TimeUnit.MILLISECONDS)
                .put(PutRequest.newBuilder().setKey(key(number)).setValue(VALUE).build(), new StreamObserver<>() {
                    @Override
                    public void onNext(PutResponse response) {
                        long now = System.nanoTime();
                        done.add(new Put(now, now - dueNanos));
                        acknowledged.incrementAndGet();
                    }

                    @Override
                    public void onError(Throwable failure) {
                        cluster.reportFailure(endpoint, Duty.WRITE, failure);
                        var unused = cluster.thread()
                                .schedule(() -> send(number, dueNanos), AGAIN_MILLIS, TimeUnit.MILLISECONDS);
                    }

                    @Override
                    public void onCompleted() {
                        cluster.reportSuccess(endpoint, Duty.WRITE);
                    }
                });
    }

    private static ByteString key(int number) {
        return ByteString.copyFromUtf8(String.format(Locale.ROOT, "%s%09d", PREFIX, number));
    }

    /** What was acknowledged since the last call. */
    List<Put> take() {
        List<Put> taken = new ArrayList<>();
        for (Put put = done.poll(); put != null; put = done.poll()) {
            taken.add(put);
        }
        return List.copyOf(taken);
    }

    /** Stops, waits for all acknowledgements, and counts the acknowledged puts that the cluster does not have. */
    long stopAndCountLost() {
        boolean unused = clock.cancel(false);
        Waiting.until(
                PATIENCE,
                () -> acknowledged.get() == begun.get() ? Optional.of(begun) : Optional.empty(),
                () -> new BenchException(begun.get() - acknowledged.get() + " puts were not acknowledged within "
                        + PATIENCE.toSeconds() + " s"));
        RangeResponse held = KVGrpc.newBlockingStub(
                        cluster.channel(cluster.endpointsFor(Duty.WRITE).get(0)))
                .withDeadlineAfter(PATIENCE.toMillis(), TimeUnit.MILLISECONDS)
                .range(RangeRequest.newBuilder()
                        .setKey(ByteString.copyFromUtf8(PREFIX))
                        .setRangeEnd(ByteString.copyFromUtf8(PAST_PREFIX))
                        .setCountOnly(true)
                        .build());
        return begun.get() - held.getCount();
    }

    @Override
    public void close() {
        boolean unused = clock.cancel(false);
        cluster.close();
    }
}
