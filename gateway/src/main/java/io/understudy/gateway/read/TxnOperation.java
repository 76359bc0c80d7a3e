package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.api.RangeEvaluation;
import io.understudy.gateway.api.RangeResult;
import io.understudy.gateway.api.ReplicaKeys;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.api.TxnPath;
import io.understudy.gateway.api.TxnPlan;
import io.understudy.gateway.api.TxnRequests;
import io.understudy.gateway.api.TxnResult;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A read-only transaction.
 *
 * @param keys of all branches
 * @param version of etcd that is emulated
 */
record TxnOperation(TxnRequest request, List<KeyRange> keys, ResponseHeaders headers, EtcdVersion version)
        implements Operation<TxnResult> {

    /** Concurrent permission checks. */
    private static final int PERMISSIONS_AT_A_TIME = 8;

    @Override
    public Future<Void> permitted(ReadPermissions permissions, Principal principal) {
        return permitted(permissions, principal, TxnRequests.permissions(request), 0);
    }

    /** Checks those from {@code next} on in batches; stops after a denial. */
    private static Future<Void> permitted(
            ReadPermissions permissions, Principal principal, List<Permission> wanted, int next) {
        Future<Void> permitted = Future.succeededFuture();
        for (int from = next; from < wanted.size(); from += PERMISSIONS_AT_A_TIME) {
            int to = Math.min(from + PERMISSIONS_AT_A_TIME, wanted.size());
            for (Permission each : wanted.subList(from, to)) {
                Future<Void> one = permissions.check(principal, each);
                permitted = permitted.succeeded() ? one : permitted.compose(before -> one);
            }
            if (!permitted.succeeded()) {
                return permitted.compose(yes -> permitted(permissions, principal, wanted, to));
            }
        }
        return permitted;
    }

    @Override
    public boolean isWithin(KeyRange range) {
        return keys.stream().allMatch(range::covers);
    }

    @Override
    public @Nullable TxnResult at(ReplicaState now, Function<Revision, @Nullable ReplicaState> past)
            throws ApiException {
        TxnPath path = new TxnPlan(request).choose(new ReplicaKeys(now));
        List<RangeResult> results = new ArrayList<>();
        for (RangeRequest range : path.ranges()) {
            ReplicaState state = RangeOperation.stateAt(range, now, past);
            // Only the source has the compaction history.
            if (state == null || range.getRevision() == TxnPath.LATEST_UNLESS_COMPACTED) {
                return null;
            }
            results.add(RangeEvaluation.range(range, new ReplicaKeys(state), headers.of(now), version));
        }
        return path.result(results, headers.of(now));
    }

    @Override
    public long looksAt(ReplicaState now, Function<Revision, @Nullable ReplicaState> past) {
        return new TxnPlan(request).looksAt(new ReplicaKeys(now), range -> RangeOperation.looksAt(range, now, past));
    }

    @Override
    public long mostBytes() {
        return SourceReads.mostBytes(request);
    }

    @Override
    public Future<Fetched<TxnResult>> from(Upstream source, Need need) {
        return source.txn(request, need);
    }
}
