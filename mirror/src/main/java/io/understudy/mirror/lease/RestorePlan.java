package io.understudy.mirror.lease;

import com.google.protobuf.ByteString;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What it takes until the target has the source's keys with leases: those that are missing, or have another lease, are put;
 * and so that queues are in the source's order, each place after one that is missing or displaced is created anew.
 *
 * @param deletes first of all
 * @param puts then these, in the order in which the source created them
 */
record RestorePlan(List<LeasedKey> deletes, List<LeasedKey> puts) {

    private static final Comparator<LeasedKey> BY_AGE =
            Comparator.comparingLong(LeasedKey::created).thenComparing(LeasedKey::key, KeyRange.KEY_ORDER);

    static RestorePlan of(List<LeasedKey> keys) {
        List<LeasedKey> deletes = new ArrayList<>();
        List<LeasedKey> puts = new ArrayList<>();
        Map<ByteString, Queue> queues = new HashMap<>();
        for (LeasedKey key : keys.stream().sorted(BY_AGE).toList()) {
            boolean displaced = key.isPlace()
                    && queues.computeIfAbsent(key.queue(), name -> new Queue()).displaces(key);
            if (displaced && !key.isMissing()) {
                deletes.add(key);
            }
            if (displaced || key.isMissing() || key.targetLease() != key.lease()) {
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

        boolean displaces(LeasedKey next) {
            boolean together = next.created() == created;
            broken |= next.isMissing()
                    || next.targetCreated() < targetCreated
                    || (next.targetCreated() == targetCreated && !together);
            created = next.created();
            targetCreated = next.targetCreated();
            return broken;
        }
    }
}
