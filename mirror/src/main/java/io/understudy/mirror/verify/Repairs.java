package io.understudy.mirror.verify;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdMessages;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.verify.Difference.Kind;
import io.understudy.vocabulary.KeyValue;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Builds the operations that restore the source's state of differing keys. Other clients may write to the target
 * meanwhile, so each operation compares the mod revision of its key.
 */
final class Repairs {

    private Repairs() {}

    /**
     * Returns a nested transaction for each key that can be restored.
     *
     * <p>Keys with leases are left alone where leases are kept: they are restored, with leases that exist, when the
     * mirror starts.
     */
    static Map<ByteString, RequestOp> of(RangeComparison look) {
        Map<ByteString, RequestOp> operations = new LinkedHashMap<>();
        for (RangeComparison.Found found : look.found()) {
            ByteString key = found.difference().targetKey();
            KeyValue source = found.source();
            KeyValue target = found.target();
            if (found.difference().kind() == Kind.LEASE
                    || (source != null
                            && source.lease() != 0
                            && look.pair().sides().leases())) {
                continue;
            }
            TxnRequest.Builder guarded = TxnRequest.newBuilder()
                    .addCompare(EtcdMessages.unmodified(
                            key, target == null ? 0 : target.modRevision().value()));
            if (source == null
                    && target != null
                    && target.createRevision().isBefore(look.pair().created())) {
                // It may have been there before the mirror, and kept when that was configured.
                guarded.addCompare(EtcdMessages.unmodified(
                        ReservedKeys.keptForeign(look.pair().sides().mirror()), 0));
            }
            guarded.addSuccess(source == null ? EtcdMessages.delete(key) : EtcdMessages.put(key, source.value(), 0));
            operations.put(key, RequestOp.newBuilder().setRequestTxn(guarded).build());
        }
        return operations;
    }
}
