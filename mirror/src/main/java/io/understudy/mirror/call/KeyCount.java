package io.understudy.mirror.call;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.understudy.etcd.Calls;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Reads the number of keys of a cluster once, for display. */
public final class KeyCount {

    private KeyCount() {}

    /** Returns the count of the member that snapshots are read from. Fails when it doesn't answer. */
    public static CompletableFuture<Long> of(EtcdCluster cluster, KeyRange range) {
        List<Endpoint> endpoints = cluster.endpointsFor(Duty.SNAPSHOT);
        if (endpoints.isEmpty()) {
            return CompletableFuture.failedFuture(new IllegalStateException("no endpoint available for the key count"));
        }
        RangeRequest request = EtcdMessages.range(range)
                .setCountOnly(true)
                .setSerializable(true)
                .build();
        return Calls.unary(
                        cluster.channel(endpoints.get(0)),
                        KVGrpc.getRangeMethod(),
                        request,
                        cluster.settings().requestTimeout())
                .thenApply(RangeResponse::getCount);
    }
}
