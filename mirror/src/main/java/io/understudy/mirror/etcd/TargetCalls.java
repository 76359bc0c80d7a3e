package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KVGrpc.KVFutureStub;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.ClusterView;
import io.understudy.etcd.DirectCalls;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdFailure;
import io.understudy.etcd.Remedy;
import io.understudy.mirror.sink.SinkException;
import io.understudy.mirror.sink.SinkListener;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls on a cluster's voting members, one at a time. Each attempt has a deadline; after a failure the next endpoint is
 * tried with backoff. One thread at a time.
 */
final class TargetCalls implements AutoCloseable {

    private static final long FIRST_PAUSE_MILLIS = 20;
    private static final long MAX_PAUSE_MILLIS = 2_000;

    private final EtcdCluster cluster;
    private final String side;
    /** Time of failures without a success after which they are thrown; null for no limit. */
    private final @Nullable Duration patience;

    private final SinkListener listener;
    /** Null if transactions use the common channel. */
    private final @Nullable DirectCalls<TxnRequest, TxnResponse> direct;

    private int failures;
    /** Time of the first of them, by {@link System#nanoTime}. */
    private long failingSince;

    private boolean full;
    /** Whether puts are rejected for lack of space while reads succeed. */
    private boolean takesNoPuts;

    private @Nullable Endpoint proven;
    private @Nullable ClusterView viewed;

    TargetCalls(EtcdCluster cluster, SinkListener listener) {
        this(cluster, "target", null, listener, null);
    }

    private TargetCalls(
            EtcdCluster cluster,
            String side,
            @Nullable Duration patience,
            SinkListener listener,
            @Nullable DirectCalls<TxnRequest, TxnResponse> direct) {
        this.cluster = cluster;
        this.side = side;
        this.patience = patience;
        this.listener = listener;
        this.direct = direct;
    }

    /**
     * Returns calls on the mirror's source, which end with {@link SinkException.Unavailable} if it does not answer. A
     * sink that waited for it would keep the mirror from noticing that its target has become the primary.
     */
    static TargetCalls ofSource(EtcdCluster cluster, SinkListener listener) {
        return new TargetCalls(cluster, "source", cluster.settings().requestTimeout(), listener, null);
    }

    /** Returns calls for consecutive transactions: small ones use a connection without thread switches. */
    static TargetCalls ofWriter(EtcdCluster cluster, SinkListener listener) {
        return new TargetCalls(
                cluster,
                "target",
                null,
                listener,
                cluster.directCalls(KVGrpc.getTxnMethod()).orElse(null));
    }

    /** Reads linearizably (by the request's settings) and retries until answered. */
    RangeResponse range(RangeRequest request) {
        while (true) {
            Optional<RangeResponse> answer = tryRange(request);
            if (answer.isPresent()) {
                return answer.get();
            }
        }
    }

    /** Reads linearizably in one attempt. Empty if it failed, perhaps as the response is too large. */
    Optional<RangeResponse> tryRange(RangeRequest request) {
        return attempt(() -> "read", false, endpoint -> answer(stub(endpoint).range(request)));
    }

    /**
     * Executes a transaction in one attempt.
     *
     * @param what describes the write, for errors
     * @return empty if its outcome is unknown
     */
    Optional<TxnResponse> txn(Supplier<String> what, TxnRequest request) {
        return direct != null && direct.takes(request)
                ? attempt(
                        what,
                        true,
                        endpoint -> direct.call(
                                endpoint, request, cluster.settings().requestTimeout()))
                : attempt(what, true, endpoint -> answer(stub(endpoint).txn(request)));
    }

    /** Whether the last attempt failed for lack of space. */
    boolean isFull() {
        return full;
    }

    /** Clears the failure of rejected puts, which are not repeated. */
    void continueWithoutPuts() {
        takesNoPuts = false;
        if (failures > 0) {
            failures = 0;
            listener.available();
        }
    }

    private <T> Optional<T> attempt(Supplier<String> what, boolean writes, Function<Endpoint, T> call) {
        full = false;
        Endpoint endpoint = endpoint();
        if (endpoint == null) {
            failed("no writable endpoint of the " + side + " among "
                    + cluster.settings().endpoints() + ": " + explained(cluster.view()));
            return Optional.empty();
        }
        try {
            T answer = call.apply(endpoint);
            succeeded(endpoint, writes);
            return Optional.of(answer);
        } catch (StatusRuntimeException e) {
            if (Thread.currentThread().isInterrupted()) {
                throw new SinkException.Stopped("waiting for " + endpoint);
            }
            EtcdFailure failure = cluster.reportFailure(endpoint, Duty.WRITE, e);
            if (failure.error() == EtcdError.LEASE_NOT_FOUND) {
                // It was there a moment ago; a new attempt restores its keys.
                throw new SinkException.Unavailable(
                        side + " member " + endpoint + " rejected " + what.get() + ": " + failure, e);
            }
            if (failure.error() == EtcdError.COMPACTED) {
                throw new SinkException.Unavailable(side + " member " + endpoint + ": " + failure, e);
            }
            if (failure.remedy() == Remedy.CALLERS_FAULT || failure.remedy() == Remedy.FATAL) {
                throw new SinkException.Refused(
                        side + " member " + endpoint + " rejected " + what.get() + ": " + failure + hint(failure), e);
            }
            full = failure.error() == EtcdError.NO_SPACE;
            takesNoPuts |= full;
            failed(endpoint + ": " + what.get() + " failed: " + failure + hint(failure));
            return Optional.empty();
        }
    }

    private KVFutureStub stub(Endpoint endpoint) {
        // Only completes a future: a blocking stub would wake this thread for each part of the answer.
        return KVGrpc.newFutureStub(cluster.channel(endpoint)).withExecutor(Runnable::run);
    }

    /** Waits for the response. A gRPC deadline would add a timer per call, which wakes the connection's thread. */
    private <T> T answer(Future<T> call) {
        Duration timeout = cluster.settings().requestTimeout();
        try {
            return call.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            if (!call.cancel(true)) {
                // It came just now.
                return answer(call);
            }
            throw Status.DEADLINE_EXCEEDED
                    .withDescription("no response within " + timeout.toMillis() + " ms")
                    .withCause(e)
                    .asRuntimeException();
        } catch (InterruptedException e) {
            call.cancel(true);
            Thread.currentThread().interrupt();
            throw Status.CANCELLED.withCause(e).asRuntimeException();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof StatusRuntimeException failure
                    ? failure
                    : Status.fromThrowable(e).asRuntimeException();
        }
    }

    /** Returns the last successful endpoint while the cluster view is unchanged, else the best one. */
    private @Nullable Endpoint endpoint() {
        ClusterView view = cluster.view();
        if (proven == null || !view.equals(viewed)) {
            List<Endpoint> endpoints = cluster.endpointsFor(Duty.WRITE);
            proven = endpoints.isEmpty() ? null : endpoints.get(0);
            viewed = view;
        }
        return proven;
    }

    private void succeeded(Endpoint endpoint, boolean writes) {
        cluster.reportSuccess(endpoint, Duty.WRITE);
        takesNoPuts &= !writes;
        if (failures > 0 && !takesNoPuts) {
            failures = 0;
            listener.available();
        }
    }

    private void failed(String why) {
        proven = null;
        if (failures == 0) {
            failingSince = System.nanoTime();
        } else if (patience != null && System.nanoTime() - failingSince >= patience.toNanos()) {
            throw new SinkException.Unavailable(why, null);
        }
        listener.unavailable(why);
        long most = Math.min(MAX_PAUSE_MILLIS, FIRST_PAUSE_MILLIS << Math.min(failures++, 10));
        try {
            TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(most / 2, most + 1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new SinkException.Stopped("waiting to retry after: " + why);
        }
    }

    @Override
    public void close() {
        if (direct != null) {
            direct.close();
        }
    }

    private static String explained(ClusterView view) {
        return view.foreign().isEmpty()
                ? "no voting member is known"
                : "configured endpoints reach different clusters: " + view.foreign();
    }

    private static String hint(EtcdFailure failure) {
        return switch (failure.error()) {
            case REQUEST_TOO_LARGE ->
                "; start the target's members with --max-request-bytes of at least this size plus 4 KiB, and set the"
                        + " mirror's maxRequestBytes to the same value";
            case TOO_MANY_OPERATIONS -> "; the target's --max-txn-ops must be at least the mirror's maxTxnOps";
            case PERMISSION_DENIED ->
                "; grant the mirror's user read and write access to its keys and to \\000understudy/ in both clusters";
            case NO_SPACE ->
                "; compact and defragment the cluster or increase"
                        + " --quota-backend-bytes, then run \"etcdctl alarm disarm\"";
            default -> "";
        };
    }
}
