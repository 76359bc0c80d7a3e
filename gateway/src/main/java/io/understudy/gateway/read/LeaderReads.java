package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.RangeResult;
import io.understudy.gateway.api.TxnResult;
import io.understudy.gateway.caller.Caller;
import io.vertx.core.Future;
import java.util.function.BooleanSupplier;

/**
 * Fails reads that require a leader while the source has none, as etcd does ({@code v3rpc/interceptor.go}).
 *
 * @param isLeaderLost from any thread
 */
public record LeaderReads(Reads reads, BooleanSupplier isLeaderLost) implements Reads {

    @Override
    public EtcdVersion version() {
        return reads.version();
    }

    @Override
    public Future<Answer<RangeResult>> range(Caller caller, RangeRequest request) {
        return fails(caller) ? Future.failedFuture(ApiException.noLeader()) : reads.range(caller, request);
    }

    @Override
    public Future<Answer<TxnResult>> txn(Caller caller, TxnRequest request) {
        return fails(caller) ? Future.failedFuture(ApiException.noLeader()) : reads.txn(caller, request);
    }

    /** Whether a call of this caller has to fail now. */
    public boolean fails(Caller caller) {
        return caller.freshness().requiresLeader() && isLeaderLost.getAsBoolean();
    }
}
