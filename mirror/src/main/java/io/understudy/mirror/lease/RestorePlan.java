package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The writes after which the target has the source's keys with leases. Keys that are missing, or have another lease,
 * are put. Each place of a queue after a missing or displaced one is deleted and put, so that the order is the
 * source's. So is each key of a lease that is to be granted again.
 *
 * @param deletes first of all: etcd takes each key once per transaction
 * @param puts then these, in the order in which the source created them
 */
record RestorePlan(List<LeasedKey> deletes, List<LeasedKey> puts) {

    private static final Comparator<LeasedKey> BY_AGE =
            Comparator.comparingLong(LeasedKey::created).thenComparing(LeasedKey::key, KeyRange.KEY_ORDER);

    /** @param stale leases that the target must grant again */
    static RestorePlan of(List<LeasedKey> keys, Set<Long> stale) {
        List<LeasedKey> deletes = new ArrayList<>();
        List<LeasedKey> puts = new ArrayList<>();
        Map<ByteString, Queue> queues = new HashMap<>();
        for (LeasedKey key : keys.stream().sorted(BY_AGE).toList()) {
            boolean ends = stale.contains(key.lease());
            boolean displaced = key.isPlace()
                    && queues.computeIfAbsent(key.queue(), name -> new Queue()).displaces(key, ends);
            boolean recreated = displaced || ends;
            if (recreated && !key.isMissing()) {
                deletes.add(key);
            }
            if (recreated || key.isMissing() || !key.isAttached()) {
                puts.add(key);
            }
        }
        return new RestorePlan(List.copyOf(deletes), List.copyOf(puts));
    }

    /** The places of one queue, seen in the source's order. */
    private static final class Queue {
        private long created;
        private long targetCreated;
        private boolean broken;

        boolean displaces(LeasedKey next, boolean ends) {
            boolean together = next.created() == created;
            broken |= ends
                    || next.isMissing()
                    || next.targetCreated() < targetCreated
                    || (next.targetCreated() == targetCreated && !together);
            created = next.created();
            targetCreated = next.targetCreated();
            return broken;
        }
    }
}
