package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.LeaseTimeToLiveRequest;
import io.etcd.jetcd.api.LeaseTimeToLiveResponse;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** Lease requests to a cluster. Thread-safe. */
final class LeaseCalls {

    private final ClusterCalls calls;

    LeaseCalls(ClusterCalls calls) {
        this.calls = calls;
    }

    /**
     * A lease of a cluster. One that has expired but is not revoked yet exists: it was granted for some time, though
     * the time it has left may be negative, as that of a lease which isn't there.
     *
     * @param exists whether there is one
     * @param grantedSeconds what it was granted for
     * @param keys attached, if requested
     */
    record Facts(boolean exists, long grantedSeconds, List<ByteString> keys) {

        static Facts of(LeaseTimeToLiveResponse answer) {
            return new Facts(answer.getGrantedTTL() > 0, answer.getGrantedTTL(), answer.getKeysList());
        }
    }

    Facts facts(long id, boolean withKeys) throws CallFailedException, InterruptedException {
        return Facts.of(calls.lease(stub -> stub.leaseTimeToLive(
                LeaseTimeToLiveRequest.newBuilder().setID(id).setKeys(withKeys).build())));
    }

    /** Returns the seconds it was granted for, 0 if there was such a lease already. */
    long grant(long id, long seconds) throws CallFailedException, InterruptedException {
        try {
            return calls.lease(stub -> stub.leaseGrant(LeaseGrantRequest.newBuilder()
                            .setID(id)
                            .setTTL(seconds)
                            .build()))
                    .getTTL();
        } catch (CallFailedException e) {
            if (e.error() == EtcdError.LEASE_EXISTS) {
                return 0;
            }
            throw e;
        }
    }

    void revoke(long id) throws CallFailedException, InterruptedException {
        try {
            calls.lease(stub ->
                    stub.leaseRevoke(LeaseRevokeRequest.newBuilder().setID(id).build()));
        } catch (CallFailedException e) {
            if (e.error() != EtcdError.LEASE_NOT_FOUND) {
                throw e;
            }
        }
    }

    /**
     * Keeps leases alive once. Answers apply to these objects, not to a lease that is granted meanwhile with the same ID.
     *
     * @param maxDenied after how many leases that are denied the rest stays due
     * @param ended receives each lease that the cluster lacks, on another thread
     * @return leases with keys that the user may not write, unless denied before
     */
    List<HeldLease> keepAlive(Collection<HeldLease> leases, int maxDenied, Consumer<HeldLease> ended)
            throws CallFailedException, InterruptedException {
        Map<Long, HeldLease> unanswered = Collections.synchronizedMap(new LinkedHashMap<>());
        leases.forEach(lease -> unanswered.put(lease.id(), lease));
        long sentAt = System.nanoTime();
        try {
            calls.keepAlive(leases.stream().map(HeldLease::id).toList(), maxDenied, (id, seconds) -> {
                HeldLease lease = unanswered.remove(id);
                if (lease != null && seconds > 0) {
                    lease.keptAlive(sentAt, seconds);
                } else if (lease != null) {
                    ended.accept(lease);
                }
            });
        } catch (CallFailedException e) {
            if (e.error() != EtcdError.PERMISSION_DENIED) {
                throw e;
            }
        }
        // In their order: those that were denied come first.
        List<HeldLease> left = List.copyOf(unanswered.values());
        left.stream().skip(maxDenied).forEach(HeldLease::leftOut);
        List<HeldLease> denied = new ArrayList<>();
        for (HeldLease lease : left.stream().limit(maxDenied).toList()) {
            if (lease.isDenied()) {
                lease.denied(lease.seconds());
            } else {
                lease.denied(facts(lease.id(), false).grantedSeconds());
                denied.add(lease);
            }
        }
        return denied;
    }
}
