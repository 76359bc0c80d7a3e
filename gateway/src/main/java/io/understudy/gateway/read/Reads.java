package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.caller.Caller;
import io.vertx.core.Future;

/**
 * Reads keys for every protocol. Called and completed on the session's event loop, immediately where possible. Fails
 * with an {@link io.understudy.gateway.api.ApiException} only.
 */
public interface Reads {

    /** The version of etcd that is emulated; {@link EtcdVersion#UNKNOWN} until a member reported it. */
    EtcdVersion version();

    Future<Answer<RangeResult>> range(Caller caller, RangeRequest request);

    /** A transaction without puts and deletes, all of it evaluated at one revision. */
    Future<Answer<TxnResult>> txn(Caller caller, TxnRequest request);
}
