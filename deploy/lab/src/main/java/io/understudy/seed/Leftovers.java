package io.understudy.seed;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.LeaseTimeToLiveRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.takeover.PatientCalls;
import io.understudy.mirror.takeover.TakeOverException;
import java.util.List;

/**
 * Data of a restored snapshot that the target must not have: mirror keys and leases.
 *
 * <p>With the source's mirror keys the target would appear to be mirrored into already. No client keeps the leases
 * alive here, so they would expire and delete their keys; a mirror that keeps leases grants them itself. Keys with a
 * lease stay, without it.
 */
record Leftovers(PatientCalls target) {

    private static final int BATCH = 64;

    /** The removed data. */
    record Removed(long reserved, long leases, long detached) {}

    /** @param leases all leases of the target */
    Removed remove(List<Long> leases) {
        long reserved = removeReserved();
        long detached = 0;
        for (long lease : leases) {
            detached += detach(lease);
            revoke(lease);
        }
        return new Removed(reserved, leases.size(), detached);
    }

    /** Waits until the member responds. */
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

    /** Detaches the lease's listed keys: etcd 3.7 omits leases from reads without values. */
    private long detach(long lease) {
        LeaseTimeToLiveRequest request =
                LeaseTimeToLiveRequest.newBuilder().setID(lease).setKeys(true).build();
        List<ByteString> keys = target.call(
                        "the keys of a lease", LeaseGrpc::newBlockingStub, stub -> stub.leaseTimeToLive(request))
                .getKeysList();
        for (int from = 0; from < keys.size(); from += BATCH) {
            detach(keys.subList(from, Math.min(keys.size(), from + BATCH)));
        }
        return keys.size();
    }

    /** Puts keys that still exist again with their value, and no lease. */
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
        var unused = target.txn("the detachment of keys from leases", all.build());
    }

    private void revoke(long lease) {
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
