package io.understudy.seed;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.takeover.PatientCalls;
import io.understudy.mirror.takeover.TakeOverException;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.List;

/**
 * What a restored snapshot must not bring along. The source's own mirrors' keys: with them the target would look mirrored
 * into already, by mirrors that write elsewhere. And leases: nobody keeps them alive here, so they would take their keys
 * with them, and a mirror that keeps leases must grant them itself. Keys that have one stay, without it.
 */
record Leftovers(PatientCalls target) {

    private static final int PAGE_KEYS = 5_000;
    private static final int BATCH = 64;

    /** What was found and removed. */
    record Removed(long reserved, long leases, long detached) {}

    /** @param leases all that there are */
    Removed remove(List<Long> leases) {
        long reserved = removeReserved();
        long detached = detach();
        revoke(leases);
        return new Removed(reserved, leases.size(), detached);
    }

    /** Returns once the member answers. */
    void awaitServing() {
        var unused = target.range(RangeRequest.newBuilder()
                .setKey(ReservedKeys.RANGE.etcdKey())
                .setCountOnly(true)
                .build());
    }

    private long removeReserved() {
        return target.txn(
                        "the deletion of reserved keys",
                        TxnRequest.newBuilder()
                                .addSuccess(RequestOp.newBuilder()
                                        .setRequestDeleteRange(DeleteRangeRequest.newBuilder()
                                                .setKey(ReservedKeys.RANGE.etcdKey())
                                                .setRangeEnd(ReservedKeys.RANGE.etcdRangeEnd())))
                                .build())
                .getResponses(0)
                .getResponseDeleteRange()
                .getDeleted();
    }

    private long detach() {
        long detached = 0;
        List<ByteString> batch = new ArrayList<>();
        KeyRange rest = KeyRange.all();
        while (true) {
            RangeResponse page = target.range(RangeRequest.newBuilder()
                    .setKey(rest.etcdKey())
                    .setRangeEnd(rest.etcdRangeEnd())
                    .setKeysOnly(true)
                    .setLimit(PAGE_KEYS)
                    .build());
            for (KeyValue kv : page.getKvsList()) {
                if (kv.getLease() != 0) {
                    batch.add(kv.getKey());
                    detached++;
                }
                if (batch.size() == BATCH) {
                    detach(batch);
                    batch.clear();
                }
            }
            if (!page.getMore()) {
                detach(batch);
                return detached;
            }
            ByteString last = page.getKvs(page.getKvsCount() - 1).getKey();
            rest = KeyRange.fromKey(KeyRange.single(last).etcdRangeEnd());
        }
    }

    /** Puts what is still there again with the value that it has, and no lease. */
    private void detach(List<ByteString> keys) {
        TxnRequest.Builder all = TxnRequest.newBuilder();
        for (ByteString key : keys) {
            all.addSuccess(RequestOp.newBuilder()
                    .setRequestTxn(TxnRequest.newBuilder()
                            .addCompare(Compare.newBuilder()
                                    .setKey(key)
                                    .setTarget(Compare.CompareTarget.VERSION)
                                    .setResult(Compare.CompareResult.GREATER)
                                    .setVersion(0))
                            .addSuccess(RequestOp.newBuilder()
                                    .setRequestPut(
                                            PutRequest.newBuilder().setKey(key).setIgnoreValue(true)))));
        }
        if (!keys.isEmpty()) {
            var unused = target.txn("the detachment of keys from leases", all.build());
        }
    }

    private void revoke(List<Long> leases) {
        for (long lease : leases) {
            LeaseRevokeRequest request =
                    LeaseRevokeRequest.newBuilder().setID(lease).build();
            try {
                var unused = target.call(
                        "the revocation of a lease", LeaseGrpc::newBlockingStub, stub -> stub.leaseRevoke(request));
            } catch (TakeOverException e) {
                if (!String.valueOf(e.getMessage()).contains("requested lease not found")) {
                    throw e;
                }
            }
        }
    }
}
