package io.understudy.gateway.read;

import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.TxnRequest;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.OpResult;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.read.Operation.Fetched;
import io.understudy.gateway.read.Operation.Need;
import io.understudy.gateway.replica.Replica;
import io.understudy.gateway.replica.ReplicaState.Condition;
import io.vertx.core.Future;

/** Serves reads that the replica cannot answer. Called and completed on an event loop. */
interface Upstream {

    /** Fails with an {@link ApiException} or a {@link LargerResponse} only. */
    Future<Fetched<RangeResult>> range(RangeRequest request, Need need);

    /** Evaluates a read-only transaction at one revision; fails with an {@link ApiException} only. */
    Future<Fetched<TxnResult>> txn(TxnRequest request, Need need);

    /** The response has to be read again with so many bytes reserved for it. */
    final class LargerResponse extends Exception {

        final long bytes;

        LargerResponse(long bytes) {
            this.bytes = bytes;
        }
    }

    /** Rejects reads that the replica cannot answer, by what it lacks. */
    final class NoUpstream implements Upstream {

        private final Replica replica;

        NoUpstream(Replica replica) {
            this.replica = replica;
        }

        @Override
        public Future<Fetched<RangeResult>> range(RangeRequest request, Need need) {
            return refused(need);
        }

        @Override
        public Future<Fetched<TxnResult>> txn(TxnRequest request, Need need) {
            return refused(need);
        }

        private <R extends OpResult> Future<Fetched<R>> refused(Need need) {
            return Future.failedFuture(
                    switch (need.missing()) {
                        case STATE ->
                            replica.condition() instanceof Condition.Dropped
                                    ? ApiException.replicaDropped()
                                    : ApiException.notReady();
                        case KEYS -> ApiException.outsideOfRange();
                        case PRESENT -> need.refusal();
                        case PAST -> ApiException.compacted();
                    });
        }
    }
}
