package io.understudy.cluster.supervise.elect;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.grpc.MethodDescriptor;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdMessages;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Keys of supervisors and commands in the cluster: active supervisor, pauses, and their acknowledgement.
 *
 * <p>Every call tries one member after another, each with a deadline. All calls are idempotent.
 *
 * @param endpoints members, best first
 */
record SupervisorStore(EtcdConnections connections, Supplier<List<Endpoint>> endpoints, Duration deadline) {

    private static final ByteString PREFIX = ByteString.copyFromUtf8("\0understudy/cluster/");
    /** End of the range with the prefix. */
    private static final ByteString END = ByteString.copyFromUtf8("\0understudy/cluster0");

    private static final ByteString ACTIVE = PREFIX.concat(ByteString.copyFromUtf8("supervisor"));
    private static final ByteString PAUSED = PREFIX.concat(ByteString.copyFromUtf8("paused"));
    private static final ByteString CHANGING = PREFIX.concat(ByteString.copyFromUtf8("changing"));
    private static final ByteString SEEN = PREFIX.concat(ByteString.copyFromUtf8("paused-seen"));

    /** No member responded as required; the message names the members and the cause. */
    static final class FailedException extends Exception {
        FailedException(String message, Throwable cause) {
            super(message, cause);
        }
    }

    /**
     * The values at one revision.
     *
     * @param active the active supervisor
     * @param stopped reason of a pause until it is ended
     * @param change the command that changes the cluster, during which supervisors pause
     * @param seen the revision up to which the active one has acknowledged pauses
     */
    record Found(
            Optional<KeyValue> active, Optional<KeyValue> stopped, Optional<KeyValue> change, Optional<KeyValue> seen) {

        static final Found NOTHING = new Found(Optional.empty(), Optional.empty(), Optional.empty(), Optional.empty());

        boolean isHeldBy(String name, long lease) {
            return active.filter(found -> found.getValue().toStringUtf8().equals(name) && found.getLease() == lease)
                    .isPresent();
        }

        Optional<String> paused() {
            return stopped.or(() -> change).map(why -> why.getValue().toStringUtf8());
        }

        Found withoutCommand() {
            return new Found(active, stopped, Optional.empty(), seen);
        }

        Optional<String> changing() {
            return change.map(command -> command.getValue().toStringUtf8());
        }

        /** Returns the revision of the last pause; 0 for none. */
        long pausedAt() {
            return Stream.of(stopped, change)
                    .flatMap(Optional::stream)
                    .mapToLong(KeyValue::getModRevision)
                    .max()
                    .orElse(0);
        }

        /** Whether the active supervisor, if any, has acknowledged the pause at that revision. */
        boolean isSeen(long revision) {
            return active.isEmpty()
                    || seen.filter(found -> found.getLease() == active.get().getLease()
                                    && Long.parseLong(found.getValue().toStringUtf8()) >= revision)
                            .isPresent();
        }
    }

    /** Reads the values linearizably, by one read: a CORRUPT alarm refuses transactions. */
    Found read() throws FailedException, InterruptedException {
        RangeRequest all =
                RangeRequest.newBuilder().setKey(PREFIX).setRangeEnd(END).build();
        Map<ByteString, KeyValue> found = call(KVGrpc.getRangeMethod(), all).getKvsList().stream()
                .collect(Collectors.toMap(KeyValue::getKey, keyValue -> keyValue));
        return new Found(
                Optional.ofNullable(found.get(ACTIVE)),
                Optional.ofNullable(found.get(PAUSED)),
                Optional.ofNullable(found.get(CHANGING)),
                Optional.ofNullable(found.get(SEEN)));
    }

    /** Stores the active supervisor, unless there is one. */
    boolean claim(String name, long lease) throws FailedException, InterruptedException {
        return putNew(ACTIVE, name, lease).getSucceeded();
    }

    /**
     * Stores the command that changes the cluster, unless there is one.
     *
     * @return revision of the key; empty if there is another command
     */
    OptionalLong change(String command, long lease) throws FailedException, InterruptedException {
        TxnResponse answer = putNew(CHANGING, command, lease);
        if (answer.getSucceeded()) {
            return OptionalLong.of(answer.getHeader().getRevision());
        }
        // A request that seemed to fail may have been applied.
        return first(answer, 0).filter(found -> found.getLease() == lease).stream()
                .mapToLong(KeyValue::getModRevision)
                .findFirst();
    }

    private TxnResponse putNew(ByteString key, String value, long lease) throws FailedException, InterruptedException {
        TxnRequest request = TxnRequest.newBuilder()
                .addCompare(EtcdMessages.unmodified(key, 0))
                .addSuccess(put(key, value, lease))
                .addFailure(EtcdMessages.get(key))
                .build();
        return call(KVGrpc.getTxnMethod(), request);
    }

    /** Acknowledges, for the supervisor of that lease, the pauses up to that revision. */
    void acknowledge(long revision, long lease) throws FailedException, InterruptedException {
        TxnRequest request = TxnRequest.newBuilder()
                .addSuccess(put(SEEN, Long.toString(revision), lease))
                .build();
        call(KVGrpc.getTxnMethod(), request);
    }

    long grant(Duration ttl) throws FailedException, InterruptedException {
        return call(
                        LeaseGrpc.getLeaseGrantMethod(),
                        LeaseGrantRequest.newBuilder().setTTL(ttl.toSeconds()).build())
                .getID();
    }

    /** Renews the lease and returns whether it still exists. */
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

    /** Stores a pause and returns its revision. */
    long pause(String why) throws FailedException, InterruptedException {
        TxnRequest request =
                TxnRequest.newBuilder().addSuccess(put(PAUSED, why, 0)).build();
        return call(KVGrpc.getTxnMethod(), request).getHeader().getRevision();
    }

    void resume() throws FailedException, InterruptedException {
        call(
                KVGrpc.getDeleteRangeMethod(),
                DeleteRangeRequest.newBuilder().setKey(PAUSED).build());
    }

    private <Q, A> A call(MethodDescriptor<Q, A> method, Q request) throws FailedException, InterruptedException {
        List<Endpoint> members = endpoints.get();
        ExecutionException last = new ExecutionException("no member responds", null);
        for (Endpoint endpoint : members) {
            try {
                return connections.call(endpoint, method, request, deadline).get();
            } catch (ExecutionException e) {
                last = e;
            }
        }
        Throwable cause = last.getCause() == null ? last : last.getCause();
        throw new FailedException("request failed at all of " + members + ": " + EtcdErrors.text(cause), cause);
    }

    private static RequestOp put(ByteString key, String value, long lease) {
        return EtcdMessages.put(key, ByteString.copyFromUtf8(value), lease);
    }

    private static Optional<KeyValue> first(TxnResponse answer, int index) {
        return answer.getResponses(index).getResponseRange().getKvsList().stream()
                .findFirst();
    }
}
