package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.gateway.api.RangeResult;
import io.understudy.gateway.api.TxnResult;
import io.understudy.gateway.read.Operation.Fetched;
import io.understudy.gateway.read.Operation.Need;
import io.vertx.core.Future;

/** Serves reads that the replica cannot answer. Called and completed on an event loop. */
interface Upstream {

    /** Fails with an {@link io.understudy.gateway.api.ApiException} only. */
    Future<Fetched<RangeResult>> range(RangeRequest request, Need need);

    /** Evaluates a read-only transaction at one revision; fails likewise. */
    Future<Fetched<TxnResult>> txn(TxnRequest request, Need need);
}
