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

/** The key of the target at which the active process of a mirror is named, and the leases it is attached to. */
final class ActiveKey {

    private final ByteString key;
    private final String name;
    private final ClusterCalls calls;

    ActiveKey(String mirror, String name, EtcdCluster target, Duration deadline) {
        this.key = ReservedKeys.active(mirror);
        this.name = name;
        this.calls = new ClusterCalls(target, Duty.WRITE, deadline);
    }

    /** Of this process. */
    String name() {
        return name;
    }

    /** Linearizably; null if no process is active. */
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

    /** Seconds from now, 0 or less if the lease is gone. */
    long keepAlive(long lease) throws CallFailedException, InterruptedException {
        return calls.keepAlive(lease);
    }

    /**
     * Names this process, attached to {@code lease}.
     *
     * @param found what was read there; null if nothing was
     * @return false if something else is there by now, which stays
     */
    boolean put(long lease, @Nullable KeyValue found) throws CallFailedException, InterruptedException {
        TxnRequest request = TxnRequest.newBuilder()
                .addCompare(EtcdMessages.unmodified(key, found == null ? 0 : found.getModRevision()))
                .addSuccess(EtcdMessages.put(key, ByteString.copyFromUtf8(name), lease))
                .build();
        return calls.kv(stub -> stub.txn(request)).getSucceeded();
    }

    /** Ends the lease, and with it the key. */
    void release(long lease) throws CallFailedException, InterruptedException {
        calls.lease(stub ->
                stub.leaseRevoke(LeaseRevokeRequest.newBuilder().setID(lease).build()));
    }
}
