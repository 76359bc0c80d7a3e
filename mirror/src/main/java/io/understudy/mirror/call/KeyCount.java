package io.understudy.mirror.call;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.stub.StreamObserver;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Asks a cluster how many keys it has, once: it is for people to look at. */
public final class KeyCount {

    private KeyCount() {}

    /** As the member knows it that snapshots are read from; fails when that doesn't answer. */
    public static CompletableFuture<Long> of(EtcdCluster cluster, KeyRange range) {
        List<Endpoint> endpoints = cluster.endpointsFor(Duty.SNAPSHOT);
        if (endpoints.isEmpty()) {
            return CompletableFuture.failedFuture(new IllegalStateException("no endpoint available for the key count"));
        }
        CompletableFuture<Long> count = new CompletableFuture<>();
        KVGrpc.newStub(cluster.channel(endpoints.get(0)))
                .withDeadlineAfter(cluster.settings().requestTimeout().toNanos(), TimeUnit.NANOSECONDS)
                .range(
                        RangeRequest.newBuilder()
                                .setKey(range.etcdKey())
                                .setRangeEnd(range.etcdRangeEnd())
                                .setCountOnly(true)
                                .setSerializable(true)
                                .build(),
                        new StreamObserver<>() {
                            @Override
                            public void onNext(RangeResponse answer) {
                                count.complete(answer.getCount());
                            }

                            @Override
                            public void onError(Throwable failure) {
                                count.completeExceptionally(failure);
                            }

                            @Override
                            public void onCompleted() {}
                        });
        return count;
    }
}
