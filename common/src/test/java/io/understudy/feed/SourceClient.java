package io.understudy.feed;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.CompactionRequest;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrantRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/** Writes to a source as its users do, and reads it directly: the oracle of the feed's tests. */
public final class SourceClient {

    private static final long DEADLINE_SECONDS = 10;

    /** So few that pages of the largest values fit a response. */
    private static final int PAGE_KEYS = 40;

    private final EtcdCluster cluster;

    public SourceClient(EtcdCluster cluster) {
        this.cluster = cluster;
    }

    public Revision put(String key, String value) {
        return put(bytes(key), bytes(value), 0);
    }

    public Revision put(ByteString key, ByteString value, long lease) {
        return new Revision(write(kv -> kv.put(PutRequest.newBuilder()
                        .setKey(key)
                        .setValue(value)
                        .setLease(lease)
                        .build())
                .getHeader()
                .getRevision()));
    }

    /** One transaction; etcd allows 128 operations. */
    public Revision putAll(Collection<ByteString> keys, ByteString value, long lease) {
        TxnRequest.Builder txn = TxnRequest.newBuilder();
        for (ByteString key : keys) {
            txn.addSuccess(RequestOp.newBuilder()
                    .setRequestPut(
                            PutRequest.newBuilder().setKey(key).setValue(value).setLease(lease)));
        }
        return new Revision(write(kv -> kv.txn(txn.build()).getHeader().getRevision()));
    }

    /** {@code count} keys below {@code prefix}, in transactions of 128. */
    public Revision fill(String prefix, int count, ByteString value, long lease) {
        Revision last = Revision.ZERO;
        List<ByteString> keys = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            keys.add(bytes(prefix + String.format("%07d", i)));
            if (keys.size() == 128 || i == count - 1) {
                last = putAll(keys, value, lease);
                keys.clear();
            }
        }
        return last;
    }

    public Revision delete(KeyRange range) {
        return new Revision(write(kv -> kv.deleteRange(DeleteRangeRequest.newBuilder()
                        .setKey(range.etcdKey())
                        .setRangeEnd(range.etcdRangeEnd())
                        .build())
                .getHeader()
                .getRevision()));
    }

    /** Other members may serve older revisions for a moment. */
    public void compact(Revision revision) {
        Object unused = write(kv -> kv.compact(CompactionRequest.newBuilder()
                .setRevision(revision.value())
                .setPhysical(true)
                .build()));
    }

    public long grantLease(long ttlSeconds) {
        return LeaseGrpc.newBlockingStub(channel())
                .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS)
                .leaseGrant(LeaseGrantRequest.newBuilder().setTTL(ttlSeconds).build())
                .getID();
    }

    public void revokeLease(long lease) {
        Object unused = LeaseGrpc.newBlockingStub(channel())
                .withDeadlineAfter(60, TimeUnit.SECONDS)
                .leaseRevoke(LeaseRevokeRequest.newBuilder().setID(lease).build());
    }

    /** The source's revision now, linearizably. */
    public Revision revision() {
        return new Revision(write(kv -> kv.range(RangeRequest.newBuilder()
                        .setKey(KeyRange.all().etcdKey())
                        .setCountOnly(true)
                        .build())
                .getHeader()
                .getRevision()));
    }

    /** What the source holds of {@code range} at {@code revision}, read in pages from a voter. */
    public List<KeyValue> read(KeyRange range, Revision revision) {
        List<KeyValue> entries = new ArrayList<>();
        ByteString from = range.etcdKey();
        boolean more = true;
        while (more) {
            RangeRequest page = RangeRequest.newBuilder()
                    .setKey(from)
                    .setRangeEnd(range.etcdRangeEnd())
                    .setRevision(revision.value())
                    .setLimit(PAGE_KEYS)
                    .build();
            RangeResponse response = write(kv -> kv.range(page));
            for (io.etcd.jetcd.api.KeyValue kv : response.getKvsList()) {
                entries.add(new KeyValue(
                        kv.getKey(),
                        kv.getValue(),
                        new Revision(kv.getCreateRevision()),
                        new Revision(kv.getModRevision()),
                        kv.getVersion(),
                        kv.getLease()));
            }
            more = response.getMore();
            if (more) {
                from = entries.get(entries.size() - 1).key().concat(ByteString.copyFrom(new byte[] {0}));
            }
        }
        return entries;
    }

    public static ByteString bytes(String text) {
        return ByteString.copyFromUtf8(text);
    }

    /** Tries voters in turn, as these tests don't mind a put that lands twice. */
    private <T> T write(Function<KVGrpc.KVBlockingStub, T> request) {
        StatusRuntimeException failure = null;
        for (int attempt = 0; attempt < 20; attempt++) {
            Endpoint endpoint = cluster.endpointsFor(Duty.WRITE).get(0);
            try {
                return request.apply(KVGrpc.newBlockingStub(cluster.channel(endpoint))
                        .withDeadlineAfter(DEADLINE_SECONDS, TimeUnit.SECONDS));
            } catch (StatusRuntimeException e) {
                failure = e;
                cluster.reportFailure(endpoint, Duty.WRITE, e);
                try {
                    TimeUnit.MILLISECONDS.sleep(100);
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                    throw e;
                }
            }
        }
        throw failure;
    }

    private Channel channel() {
        return cluster.channel(cluster.endpointsFor(Duty.WRITE).get(0));
    }
}
