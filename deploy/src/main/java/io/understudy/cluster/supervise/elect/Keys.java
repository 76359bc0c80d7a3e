package io.understudy.cluster.supervise.elect;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.MethodDescriptor;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;

/**
 * What supervisors keep in the cluster: who acts, on a lease; and that nobody is to. Every call asks one member after
 * another, each with a deadline; all of them may be repeated without harm.
 */
final class Keys {

    private static final ByteString ACTIVE = ByteString.copyFromUtf8("\0understudy/cluster/supervisor");
    private static final ByteString PAUSED = ByteString.copyFromUtf8("\0understudy/cluster/paused");

    private final EtcdConnections connections;
    private final Supplier<List<Endpoint>> endpoints;
    private final Duration deadline;

    /** @param endpoints whom to ask, best first */
    Keys(EtcdConnections connections, Supplier<List<Endpoint>> endpoints, Duration deadline) {
        this.connections = connections;
        this.endpoints = endpoints;
        this.deadline = deadline;
    }

    /** Nobody answered as wanted; the message says who said what. */
    static final class FailedException extends Exception {
        private static final long serialVersionUID = 1L;

        FailedException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /** What is there, at one revision. */
    record Found(Optional<KeyValue> active, Optional<String> paused) {

        boolean isHeldBy(String name, long lease) {
            return active.filter(found -> found.getValue().toStringUtf8().equals(name) && found.getLease() == lease)
                    .isPresent();
        }
    }

    /** Linearizably. */
    Found read() throws FailedException, InterruptedException {
        TxnRequest both = TxnRequest.newBuilder()
                .addSuccess(get(ACTIVE))
                .addSuccess(get(PAUSED))
                .build();
        TxnResponse answer = call(KVGrpc.getTxnMethod(), both);
        return new Found(first(answer, 0), first(answer, 1).map(paused -> paused.getValue()
                .toStringUtf8()));
    }

    /** Names the supervisor that acts, unless there is one. */
    boolean claim(String name, long lease) throws FailedException, InterruptedException {
        TxnRequest request = TxnRequest.newBuilder()
                .addCompare(Compare.newBuilder()
                        .setKey(ACTIVE)
                        .setTarget(Compare.CompareTarget.MOD)
                        .setResult(Compare.CompareResult.EQUAL)
                        .setModRevision(0))
                .addSuccess(RequestOp.newBuilder()
                        .setRequestPut(PutRequest.newBuilder()
                                .setKey(ACTIVE)
                                .setValue(ByteString.copyFromUtf8(name))
                                .setLease(lease)))
                .build();
        return call(KVGrpc.getTxnMethod(), request).getSucceeded();
    }

    long grant(Duration ttl) throws FailedException, InterruptedException {
        return call(
                        LeaseGrpc.getLeaseGrantMethod(),
                        LeaseGrantRequest.newBuilder().setTTL(ttl.toSeconds()).build())
                .getID();
    }

    /** Whether the lease is there still, and lasts as long again. */
    boolean keepAlive(long lease) throws FailedException, InterruptedException {
        return call(
                                LeaseGrpc.getLeaseKeepAliveMethod(),
                                LeaseKeepAliveRequest.newBuilder().setID(lease).build())
                        .getTTL()
                > 0;
    }

    void revoke(long lease) throws FailedException, InterruptedException {
        call(
                LeaseGrpc.getLeaseRevokeMethod(),
                LeaseRevokeRequest.newBuilder().setID(lease).build());
    }

    void pause(String why) throws FailedException, InterruptedException {
        call(
                KVGrpc.getPutMethod(),
                PutRequest.newBuilder()
                        .setKey(PAUSED)
                        .setValue(ByteString.copyFromUtf8(why))
                        .build());
    }

    void resume() throws FailedException, InterruptedException {
        call(
                KVGrpc.getDeleteRangeMethod(),
                DeleteRangeRequest.newBuilder().setKey(PAUSED).build());
    }

    private <Q, A> A call(MethodDescriptor<Q, A> method, Q request) throws FailedException, InterruptedException {
        List<Endpoint> asked = endpoints.get();
        ExecutionException last = new ExecutionException("no member answers", null);
        for (Endpoint endpoint : asked) {
            try {
                return connections.call(endpoint, method, request, deadline).get();
            } catch (ExecutionException e) {
                last = e;
            }
        }
        Throwable cause = last.getCause() == null ? last : last.getCause();
        throw new FailedException("none of " + asked + " did what was asked: " + cause.getMessage(), cause);
    }

    private static RequestOp get(ByteString key) {
        return RequestOp.newBuilder()
                .setRequestRange(RangeRequest.newBuilder().setKey(key))
                .build();
    }

    private static Optional<KeyValue> first(TxnResponse answer, int index) {
        return answer.getResponses(index).getResponseRange().getKvsList().stream()
                .findFirst();
    }
}
