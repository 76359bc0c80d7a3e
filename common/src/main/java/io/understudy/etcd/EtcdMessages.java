package io.understudy.etcd;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;

/** Parts of requests and responses of etcd that several packages need. */
public final class EtcdMessages {

    /** Metadata key of a gateway's RangeStream: the cluster id, ahead of the header in the last message. */
    public static final String CLUSTER_ID_KEY = "understudy-cluster-id";

    /** Metadata key of a read: with {@code true}, a gateway rejects it instead of reading from its source. */
    public static final String REPLICA_ONLY_KEY = "understudy-replica-only";

    private EtcdMessages() {}

    /** Holds while the key's last write is at {@code modRevision}; 0 for a missing key. */
    public static Compare unmodified(ByteString key, long modRevision) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(Compare.CompareTarget.MOD)
                .setResult(Compare.CompareResult.EQUAL)
                .setModRevision(modRevision)
                .build();
    }

    /** Puts one key without a lease. */
    public static RequestOp put(ByteString key, ByteString value) {
        return put(key, value, 0);
    }

    /** Puts one key, attached to {@code lease}; 0 for none. */
    public static RequestOp put(ByteString key, ByteString value, long lease) {
        return RequestOp.newBuilder()
                .setRequestPut(
                        PutRequest.newBuilder().setKey(key).setValue(value).setLease(lease))
                .build();
    }

    public static RequestOp delete(ByteString key) {
        return RequestOp.newBuilder()
                .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(key))
                .build();
    }

    public static RequestOp get(ByteString key) {
        return RequestOp.newBuilder()
                .setRequestRange(RangeRequest.newBuilder().setKey(key))
                .build();
    }

    public static KeyValue keyValue(io.etcd.jetcd.api.KeyValue kv) {
        return new KeyValue(
                kv.getKey(),
                kv.getValue(),
                new Revision(kv.getCreateRevision()),
                new Revision(kv.getModRevision()),
                kv.getVersion(),
                kv.getLease());
    }

    /** A linearizable read of all of {@code range}, unless changed. */
    public static RangeRequest.Builder range(KeyRange range) {
        return RangeRequest.newBuilder().setKey(range.etcdKey()).setRangeEnd(range.etcdRangeEnd());
    }
}
