package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.call.ClusterCalls;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.sink.SinkException;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Register of a mirror's own leases in the target. Each has one key, put before the grant, with the source's cluster ID
 * as value. Another key marks that all keys with source leases are attached. Writes compare a fence, which rejects an
 * earlier writer.
 */
final class LeaseRegister {

    private static final String EACH = "lease/";
    private static final ByteString KEPT = ByteString.copyFromUtf8("kept");

    private final String mirror;
    private final ClusterCalls calls;

    /** @param calls calls to the target's voting members */
    LeaseRegister(String mirror, ClusterCalls calls) {
        this.mirror = mirror;
        this.calls = calls;
    }

    /** Returns the IDs of all registered leases. */
    Set<Long> ids() throws CallFailedException, InterruptedException {
        Set<Long> ids = new HashSet<>();
        calls.forEach(ReservedKeys.all(mirror, EACH), true, entry -> ids.add(id(entry.getKey())));
        return ids;
    }

    /** Adds leases, as many as a transaction has operations at most. */
    void add(List<Long> ids, ClusterId source, List<Compare> fence) throws CallFailedException, InterruptedException {
        ByteString value = ByteString.copyFromUtf8(source.toString());
        write(ids.stream().map(id -> EtcdMessages.put(key(id), value)).toList(), fence);
    }

    void remove(long id, List<Compare> fence) throws CallFailedException, InterruptedException {
        write(List.of(EtcdMessages.delete(key(id))), fence);
    }

    /** Whether another mirror of the same source has registered the lease, which may be shared. */
    boolean isOfSibling(long id, ClusterId source) throws CallFailedException, InterruptedException {
        List<String> mirrors = new ArrayList<>();
        // Each mirror has stored its primary record before it registers a lease.
        calls.forEach(ReservedKeys.HOMES, true, record -> mirrors.add(ReservedKeys.mirrorOf(record.getKey())));
        mirrors.remove(mirror);
        for (String other : mirrors) {
            KeyRange registration = KeyRange.single(ReservedKeys.of(other, EACH + Long.toHexString(id)));
            if (calls.anyMatch(registration, false, entry -> entry.getValue()
                    .toStringUtf8()
                    .equals(source.toString()))) {
                return true;
            }
        }
        return false;
    }

    /** Whether all keys with source leases were attached at the last update. */
    boolean isWhole() throws CallFailedException, InterruptedException {
        RangeRequest request = RangeRequest.newBuilder().setKey(whole()).build();
        return calls.kv(stub -> stub.range(request)).getKvsCount() > 0;
    }

    void setWhole(boolean whole, List<Compare> fence) throws CallFailedException, InterruptedException {
        write(List.of(whole ? EtcdMessages.put(whole(), KEPT) : EtcdMessages.delete(whole())), fence);
    }

    /** Returns the register's prefix, for messages. */
    String shownKeys() {
        return "the prefix \"" + TextFormat.escapeBytes(ReservedKeys.of(mirror, EACH)) + "\"";
    }

    private void write(List<RequestOp> operations, List<Compare> fence)
            throws CallFailedException, InterruptedException {
        TxnRequest request = TxnRequest.newBuilder()
                .addAllCompare(fence)
                .addAllSuccess(operations)
                .build();
        if (!calls.kv(stub -> stub.txn(request)).getSucceeded()) {
            throw new SinkException.Fenced("fenced: lease register of mirror " + mirror + " not written:"
                    + " another process took over the mirror, or its epoch was changed manually");
        }
    }

    private ByteString whole() {
        return ReservedKeys.wholeLeases(mirror);
    }

    private ByteString key(long id) {
        return ReservedKeys.of(mirror, EACH + Long.toHexString(id));
    }

    private long id(ByteString key) {
        int prefix = ReservedKeys.of(mirror, EACH).size();
        return Long.parseUnsignedLong(key.substring(prefix).toStringUtf8(), 16);
    }
}
