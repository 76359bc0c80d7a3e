package io.understudy.mirror.active;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrantResponse;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.scope.ReservedKeys;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The key in the target that names a mirror's active process, and its leases. */
final class ActiveKey {

    private final ByteString key;
    private final String name;
    private final ClusterCalls calls;

    ActiveKey(String mirror, String name, EtcdCluster target, Duration deadline) {
        this.key = ReservedKeys.active(mirror);
        this.name = name;
        this.calls = new ClusterCalls(target, Duty.WRITE, deadline);
    }

    /** Returns the name of this process. */
    String name() {
        return name;
    }

    /** Reads the key linearizably; null if no process is active. */
    @Nullable KeyValue read() throws CallFailedException, InterruptedException {
        RangeResponse answer = calls.kv(
                stub -> stub.range(RangeRequest.newBuilder().setKey(key).build()));
        return answer.getKvsCount() == 0 ? null : answer.getKvs(0);
    }

    boolean isOurs(KeyValue found) {
        return holder(found).equals(name);
    }

    String holder(KeyValue found) {
        return found.getValue().toStringUtf8();
    }

    LeaseGrantResponse grant(Duration ttl) throws CallFailedException, InterruptedException {
        long seconds = ttl.plusMillis(999).toSeconds();
        return calls.lease(stub ->
                stub.leaseGrant(LeaseGrantRequest.newBuilder().setTTL(seconds).build()));
    }

    /** Renews the lease and returns its TTL in seconds, 0 or less if expired. */
    long keepAlive(long lease) throws CallFailedException, InterruptedException {
        return calls.keepAlive(lease);
    }

    /**
     * Puts the name of this process, attached to {@code lease}.
     *
     * @param found the key as last read; null if absent
     * @return false if the key was changed since then, and is kept
     */
    boolean put(long lease, @Nullable KeyValue found) throws CallFailedException, InterruptedException {
        TxnRequest request = TxnRequest.newBuilder()
                .addCompare(EtcdMessages.unmodified(key, found == null ? 0 : found.getModRevision()))
                .addSuccess(EtcdMessages.put(key, ByteString.copyFromUtf8(name), lease))
                .build();
        return calls.kv(stub -> stub.txn(request)).getSucceeded();
    }

    /** Revokes the lease, which deletes the key. */
    void release(long lease) throws CallFailedException, InterruptedException {
        calls.lease(stub ->
                stub.leaseRevoke(LeaseRevokeRequest.newBuilder().setID(lease).build()));
    }
}
