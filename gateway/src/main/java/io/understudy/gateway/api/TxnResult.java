package io.understudy.gateway.api;

import io.etcd.jetcd.api.ResponseHeader;
import java.util.List;

/**
 * The answer to a transaction.
 *
 * @param succeeded whether all comparisons held
 * @param results of the branch that was taken, in order
 */
public record TxnResult(ResponseHeader header, boolean succeeded, List<OpResult> results) implements OpResult {

    public TxnResult {
        results = List.copyOf(results);
    }

    @Override
    public Runnable keep(Runnable end) {
        List<Runnable> all = results.stream().map(each -> each.keep(end)).toList();
        return () -> all.forEach(Runnable::run);
    }
}
