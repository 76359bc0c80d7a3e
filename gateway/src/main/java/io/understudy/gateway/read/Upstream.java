package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.gateway.api.RangeResult;
import io.understudy.gateway.api.TxnResult;
import io.understudy.gateway.read.Operation.Fetched;
import io.understudy.gateway.read.Operation.Need;
import io.vertx.core.Future;

/** Who is asked for what the replica doesn't hold. Called and answered on an event loop. */
interface Upstream {

    /** Fails with an {@link io.understudy.gateway.api.ApiException} only. */
    Future<Fetched<RangeResult>> range(RangeRequest request, Need need);

    /** All of it at one revision; fails likewise. The transaction writes nothing. */
    Future<Fetched<TxnResult>> txn(TxnRequest request, Need need);
}
