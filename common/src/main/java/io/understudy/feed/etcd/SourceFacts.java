package io.understudy.feed.etcd;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.grpc.Channel;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.ClusterView;
import io.understudy.etcd.Duty;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.ReadIndex;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.FeedEndedException.AnotherCluster;
import io.understudy.feed.FeedEndedException.AnotherHistory;
import io.understudy.feed.FeedEndedException.Gap;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Checks of the source before a suspicion ends a feed. */
final class SourceFacts {

    private final EtcdCluster cluster;
    private final Duration requestTimeout;

    SourceFacts(EtcdCluster cluster, Duration requestTimeout) {
        this.cluster = cluster;
        this.requestTimeout = requestTimeout;
    }

    /**
     * Requires that a quorum has reached the position; otherwise the cluster lost consumed revisions. A member that
     * merely lags is no reason to end. Does nothing when no quorum responds in time.
     *
     * @throws AnotherHistory a quorum confirms a revision below the position's
     */
    void requireReached(Position position) throws AnotherCluster, AnotherHistory, InterruptedException {
        ReadIndex index;
        try {
            index = cluster.readIndex(requestTimeout).get(requestTimeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            return;
        }
        requireReached(position, index);
    }

    /** As {@link #requireReached(Position)}, with an existing read index. */
    static void requireReached(Position position, ReadIndex index) throws AnotherCluster, AnotherHistory {
        if (!index.clusterId().equals(position.cluster())) {
            throw new AnotherCluster("the source endpoints", position.cluster(), index.clusterId());
        }
        if (index.revision().isBefore(position.revision())) {
            throw new AnotherHistory(
                    "source history changed: quorum of cluster " + position.cluster() + " is at revision "
                            + index.revision() + ", behind the consumed revision " + position.revision()
                            + ". The cluster was restored from a backup or wiped");
        }
    }

    /**
     * Handles a response of another cluster: the endpoint counts as failed while others remain.
     *
     * @throws TailLostException the feed may continue elsewhere
     */
    AnotherCluster foreign(String where, ClusterId expected, ClusterId found) throws TailLostException {
        if (expected.equals(cluster.view().clusterId())) {
            throw new TailLostException(
                    TailLostException.Reason.STREAM_ENDED,
                    where + " reaches cluster " + found + ", expected " + expected);
        }
        return new AnotherCluster(where, expected, found);
    }

    /**
     * Called when no endpoint is left.
     *
     * @throws AnotherCluster because another cluster answers at the endpoints
     */
    static void requireOwnCluster(EtcdCluster cluster, ClusterId expected) throws AnotherCluster {
        for (ClusterView.Foreign foreign : cluster.view().foreign()) {
            if (!foreign.clusterId().equals(expected)) {
                throw new AnotherCluster(foreign.endpoint().toString(), expected, foreign.clusterId());
            }
        }
    }

    /**
     * Handles a member with another commit at the anchor than the one consumed. Compaction up to that very revision
     * removes tombstones (before etcd 3.5.19), and then nothing can be decided; otherwise it is another history.
     *
     * @throws TailLostException the member cannot be queried now
     */
    FeedEndedException differentHistory(String where, Channel channel, KeyRange range, Position position, String why)
            throws TailLostException {
        Position.Anchor anchor = position.anchor();
        Revision suspect = anchor == null ? position.revision() : anchor.revision();
        if (compactedBefore(where, channel, range, suspect)) {
            return new Gap(position, suspect, "source compacted the last consumed commit: " + why);
        }
        return new AnotherHistory("source history changed at " + where + " of cluster " + position.cluster() + ": "
                + why + ". The cluster was restored from a backup, or the position belongs to another cluster");
    }

    private boolean compactedBefore(String where, Channel channel, KeyRange range, Revision revision)
            throws TailLostException {
        if (revision.value() <= 1) {
            return false;
        }
        RangeRequest probe = RangeRequest.newBuilder()
                .setKey(range.etcdKey())
                .setSerializable(true)
                .setKeysOnly(true)
                .setRevision(revision.value() - 1)
                .build();
        try {
            KVGrpc.newBlockingStub(channel)
                    .withDeadlineAfter(requestTimeout.toNanos(), TimeUnit.NANOSECONDS)
                    .range(probe);
            return false;
        } catch (StatusRuntimeException e) {
            if (EtcdErrors.classify(Duty.SNAPSHOT, e).error() == EtcdError.COMPACTED) {
                return true;
            }
            throw new TailLostException(
                    TailLostException.Reason.STREAM_ENDED, where + " did not return its history", e);
        }
    }
}
