package io.understudy.etcd;

import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import org.jspecify.annotations.Nullable;

/**
 * A revision confirmed by a quorum: at least that of every write acknowledged before {@code sentNanos}.
 *
 * <p>That holds through a gateway too: it answers a linearizable read by a round of its own, sent after ours had
 * arrived. So our time is valid, whatever the age of the gateway's data.
 *
 * @param servedBy the member (or gateway) that answered
 * @param sentNanos when the round was sent, by {@link System#nanoTime}
 * @param read the key that was read at that revision, where {@link EtcdCluster#connectReading} names one; null if it is
 *     missing
 */
public record ReadIndex(
        Revision revision,
        ClusterId clusterId,
        MemberId servedBy,
        long sentNanos,
        @Nullable KeyValue read) {}
