package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.RangeReader;
import io.understudy.gateway.api.RangeResult;
import io.understudy.gateway.api.TxnResult;
import io.understudy.gateway.caller.Caller;
import io.vertx.core.Future;

/** Serializable ranges from the replica as it stands. */
public final class LocalReads implements Reads {

    private final RangeReader ranges;

    public LocalReads(RangeReader ranges) {
        this.ranges = ranges;
    }

    @Override
    public Future<Answer<RangeResult>> range(Caller caller, RangeRequest request) {
        try {
            RangeResult result = ranges.range(request);
            return Future.succeededFuture(new Answer<>(result, result.header().getRevision(), null));
        } catch (ApiException e) {
            return Future.failedFuture(e);
        }
    }

    @Override
    public Future<Answer<TxnResult>> txn(Caller caller, TxnRequest request) {
        return Future.failedFuture(ApiException.unimplemented("transactions are not served"));
    }
}
