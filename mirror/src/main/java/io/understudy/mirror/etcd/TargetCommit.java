package io.understudy.mirror.etcd;

import io.etcd.jetcd.api.RequestOp;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.Position;
import java.time.Instant;
import java.util.List;

/**
 * A commit of the source in the target's terms.
 *
 * @param operations at least one, at most one of each key
 * @param path its mark: the clusters it has passed, ending with the source
 * @param position of the commit
 * @param at when the feed gave it
 * @param queues whether it creates a key with a lease, as clients that queue for a lock do
 */
record TargetCommit(List<RequestOp> operations, List<ClusterId> path, Position position, Instant at, boolean queues) {

    /** Whether it puts a key with a lease. */
    boolean isLeased() {
        for (RequestOp operation : operations) {
            if (operation.getRequestPut().getLease() != 0) {
                return true;
            }
        }
        return false;
    }

    /** Bytes that it takes in a request, at most. */
    long bytes() {
        long sum = 0;
        for (RequestOp operation : operations) {
            sum += Operations.bytes(operation);
        }
        return sum;
    }
}
