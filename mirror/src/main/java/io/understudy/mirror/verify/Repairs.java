package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.DeleteRangeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.verify.Difference.Kind;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.util.ArrayList;
import java.util.List;

/**
 * What puts back the source's state of keys that differ. The mirror goes on meanwhile, so each key is written only if it
 * still is as it was seen: a commit that came first has made it right.
 */
final class Repairs {

    private Repairs() {}

    /**
     * One nested transaction for each key that can be put right.
     *
     * <p>Keys with leases are left alone where leases are kept: they are put back, with leases that exist, when the mirror
     * starts.
     */
    static List<RequestOp> of(Look look) {
        List<RequestOp> operations = new ArrayList<>();
        ByteString checkpoint = ReservedKeys.checkpoint(look.pair().sides().mirror());
        for (Look.Found found : look.found()) {
            ByteString key = found.difference().targetKey();
            KeyValue source = found.source();
            KeyValue target = found.target();
            if (found.difference().kind() == Kind.LEASE
                    || (source != null
                            && source.lease() != 0
                            && look.pair().sides().leases())) {
                continue;
            }
            TxnRequest.Builder guarded = TxnRequest.newBuilder();
            if (target != null) {
                guarded.addCompare(unchanged(key, target.modRevision()));
            } else {
                // A key that is gone shows nothing of a deletion that the mirror has relayed since: nothing must have
                // been.
                guarded.addCompare(unchanged(key, Revision.ZERO))
                        .addCompare(unchanged(checkpoint, look.pair().written()));
            }
            if (source == null
                    && target != null
                    && target.createRevision().isBefore(look.pair().created())) {
                // It may have been there before the mirror, and kept when that was configured.
                guarded.addCompare(
                        unchanged(ReservedKeys.keptForeign(look.pair().sides().mirror()), Revision.ZERO));
            }
            guarded.addSuccess(source == null ? delete(key) : put(key, source.value()));
            operations.add(RequestOp.newBuilder().setRequestTxn(guarded).build());
        }
        return operations;
    }

    private static Compare unchanged(ByteString key, Revision modRevision) {
        return Compare.newBuilder()
                .setKey(key)
                .setTarget(Compare.CompareTarget.MOD)
                .setResult(Compare.CompareResult.EQUAL)
                .setModRevision(modRevision.value())
                .build();
    }

    private static RequestOp put(ByteString key, ByteString value) {
        return RequestOp.newBuilder()
                .setRequestPut(PutRequest.newBuilder().setKey(key).setValue(value))
                .build();
    }

    private static RequestOp delete(ByteString key) {
        return RequestOp.newBuilder()
                .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(key))
                .build();
    }
}
