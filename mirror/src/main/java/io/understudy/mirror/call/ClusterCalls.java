package io.understudy.mirror.call;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseKeepAliveResponse;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Channel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdMessages;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Single attempts at calls of one cluster. Each goes to the best endpoint, has a deadline, and reports its outcome to
 * the cluster, so that the next attempt goes elsewhere. Retries are up to the caller. Thread-safe.
 */
public final class ClusterCalls {

    private static final int PAGE_KEYS = 2_000;

    private final EtcdCluster cluster;
    private final Function<Endpoint, Channel> channels;
    private final Duty duty;
    private final Duration deadline;

    /**
     * Calls of {@code cluster}, which stays the caller's to close.
     *
     * @param duty what the calls are for, which selects the endpoints
     * @param deadline of each attempt
     */
    public ClusterCalls(EtcdCluster cluster, Duty duty, Duration deadline) {
        this(cluster, cluster::channel, duty, deadline);
    }

    /** Likewise, with connections of {@code cluster} to choose from. */
    public ClusterCalls(EtcdCluster cluster, Function<Endpoint, Channel> channels, Duty duty, Duration deadline) {
        this.cluster = cluster;
        this.channels = channels;
        this.duty = duty;
        this.deadline = deadline;
    }

    /** Makes a call on keys and waits for its response. */
    public <T> T kv(Function<KVGrpc.KVBlockingStub, T> call) throws CallFailedException, InterruptedException {
        return call(channel -> call.apply(
                KVGrpc.newBlockingStub(channel).withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)));
    }

    /** Reads the keys of a range in key order, page by page. */
    public void forEach(KeyRange range, boolean keysOnly, Consumer<KeyValue> each)
            throws CallFailedException, InterruptedException {
        boolean unused = anyMatch(range, keysOnly, entry -> {
            each.accept(entry);
            return false;
        });
    }

    /** Likewise, up to the first key with that property; returns whether there is one. */
    public boolean anyMatch(KeyRange range, boolean keysOnly, Predicate<KeyValue> property)
            throws CallFailedException, InterruptedException {
        RangeRequest.Builder request =
                EtcdMessages.range(range).setKeysOnly(keysOnly).setLimit(PAGE_KEYS);
        while (true) {
            RangeResponse page = kv(stub -> stub.range(request.build()));
            if (page.getKvsList().stream().anyMatch(property)) {
                return true;
            }
            if (!page.getMore()) {
                return false;
            }
            ByteString last = page.getKvs(page.getKvsCount() - 1).getKey();
            request.setKey(KeyRange.single(last).etcdRangeEnd());
        }
    }

    /** Makes a call on leases and waits for its response. */
    public <T> T lease(Function<LeaseGrpc.LeaseBlockingStub, T> call) throws CallFailedException, InterruptedException {
        return call(channel -> call.apply(
                LeaseGrpc.newBlockingStub(channel).withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)));
    }

    /**
     * Keeps a lease alive once.
     *
     * @return the seconds it has from then on; 0 or less if there is no such lease
     */
    public long keepAlive(long lease) throws CallFailedException, InterruptedException {
        AtomicLong seconds = new AtomicLong();
        keepAlive(List.of(lease), 1, (id, left) -> seconds.set(left));
        return seconds.get();
    }

    /**
     * Keeps leases alive once, over one stream. etcd ends it at the first lease with a key that the user may not write;
     * the others follow over another one.
     *
     * @param maxDenied after how many denied leases the others are left out: each takes a stream
     * @param answer is given each lease that was answered for, also when the call fails later, with the seconds it has
     *     from then on: 0 or less if there is no such lease. Called on another thread
     * @throws CallFailedException {@link EtcdError#PERMISSION_DENIED} if it is denied for the first {@code maxDenied} of
     *     those without an answer
     */
    public void keepAlive(Collection<Long> leases, int maxDenied, BiConsumer<Long, Long> answer)
            throws CallFailedException, InterruptedException {
        Set<Long> left = Collections.synchronizedSet(new LinkedHashSet<>(leases));
        CallFailedException denied = null;
        int denials = 0;
        while (!left.isEmpty() && denials < maxDenied) {
            List<Long> sent = List.copyOf(left);
            try {
                boolean unused = call(channel -> keepAlive(channel, sent, (id, seconds) -> {
                    left.remove(id);
                    answer.accept(id, seconds);
                }));
            } catch (CallFailedException e) {
                if (e.error() != EtcdError.PERMISSION_DENIED || left.isEmpty()) {
                    throw e;
                }
                denied = e;
                denials++;
                left.remove(List.copyOf(left).get(0));
            }
        }
        if (denied != null) {
            throw denied;
        }
    }

    /** Makes any call, which must have its own deadline, and waits for its response. */
    public <T> T call(Function<Channel, T> call) throws CallFailedException, InterruptedException {
        List<Endpoint> endpoints = cluster.endpointsFor(duty);
        if (endpoints.isEmpty()) {
            throw new CallFailedException(
                    "no endpoint available of " + cluster.settings().endpoints());
        }
        Endpoint endpoint = endpoints.get(0);
        try {
            T answer = call.apply(channels.apply(endpoint));
            cluster.reportSuccess(endpoint, duty);
            return answer;
        } catch (StatusRuntimeException e) {
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while waiting for " + endpoint);
            }
            throw new CallFailedException(endpoint, cluster.reportFailure(endpoint, duty, e), e);
        }
    }

    private boolean keepAlive(Channel channel, Collection<Long> leases, BiConsumer<Long, Long> answer) {
        CompletableFuture<Boolean> all = new CompletableFuture<>();
        StreamObserver<LeaseKeepAliveRequest> requests = LeaseGrpc.newStub(channel)
                .withDeadlineAfter(deadline.toNanos(), TimeUnit.NANOSECONDS)
                .leaseKeepAlive(new StreamObserver<>() {
                    private int missing = leases.size();

                    @Override
                    public void onNext(LeaseKeepAliveResponse answered) {
                        answer.accept(answered.getID(), answered.getTTL());
                        missing--;
                        if (missing == 0) {
                            all.complete(true);
                        }
                    }

                    @Override
                    public void onError(Throwable failure) {
                        all.completeExceptionally(failure);
                    }

                    @Override
                    public void onCompleted() {
                        all.completeExceptionally(Status.UNAVAILABLE
                                .withDescription("stream closed before all responses were received")
                                .asRuntimeException());
                    }
                });
        for (long lease : leases) {
            requests.onNext(LeaseKeepAliveRequest.newBuilder().setID(lease).build());
        }
        requests.onCompleted();
        try {
            return all.get(2 * deadline.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Status.CANCELLED.withCause(e).asRuntimeException();
        } catch (ExecutionException e) {
            throw Status.fromThrowable(e.getCause()).asRuntimeException();
        } catch (TimeoutException e) {
            throw Status.DEADLINE_EXCEEDED.withCause(e).asRuntimeException();
        }
    }
}
