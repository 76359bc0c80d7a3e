package io.understudy.mirror.verify;

import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.FeedSource;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.revisions.Moment;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.verify.Merge.Equality;
import io.understudy.mirror.verify.NotComparable.Why;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import java.util.function.UnaryOperator;

/**
 * Compares a mirror's topics with the cluster on their other side, at one revision. Topics have one state, the last; it
 * is held in memory. Writes may continue.
 */
public final class TopicVerification {

    private static final long PAUSE_MILLIS = 200;
    /** Timeout for a running mirror to write the topic's state. */
    private static final Duration LAG_PATIENCE = Duration.ofSeconds(30);

    private final String mirror;
    private final MirrorScope scope;
    private final FeedSource topic;
    private final EtcdCluster cluster;
    private final EtcdFeedOptions reading;
    private final LongConsumer progress;

    /**
     * Creates a comparison.
     *
     * @param topic feeds of the mirror's topics
     * @param cluster closed by the caller
     * @param reading deadlines and page sizes at the cluster
     * @param progress receives, periodically, the number of keys compared; it restarts at 0 when the cluster was
     *     compacted
     */
    public TopicVerification(
            String mirror,
            MirrorScope scope,
            FeedSource topic,
            EtcdCluster cluster,
            EtcdFeedOptions reading,
            LongConsumer progress) {
        this.mirror = mirror;
        this.scope = scope;
        this.topic = topic;
        this.cluster = cluster;
        this.reading = reading;
        this.progress = progress;
    }

    /**
     * Compares the source cluster with the target topics.
     *
     * @throws InterruptedException the thread was interrupted; nothing is left under way
     */
    public VerifyResult ofTarget() throws InterruptedException {
        return repeated(this::compareWithSource);
    }

    /**
     * Compares the source topics with the target cluster.
     *
     * @param keepsForeign as in {@link Sides}
     * @throws InterruptedException the thread was interrupted; nothing is left under way
     */
    public VerifyResult ofSource(boolean keepsForeign) throws InterruptedException {
        return repeated(() -> compareWithTarget(keepsForeign));
    }

    private VerifyResult repeated(Verification.Attempt attempt) throws InterruptedException {
        return Verification.repeated(
                attempt,
                progress,
                "the cluster was compacted past the revision to compare, " + Verification.ATTEMPTS
                        + " times in a row: the mirror is behind or not running");
    }

    private VerifyReport compareWithSource() throws CompactedException, IncomparableException, InterruptedException {
        try (FedState target = FedState.open("topic", scope.named(), topic);
                SideReader source = new SideReader(
                        "source",
                        cluster,
                        target.cluster(),
                        target.revision(),
                        reading,
                        scope.sourceRanges(),
                        scope::inTarget)) {
            // In topics a key keeps the number of its lease, so having one counts.
            return new Comparison(scope, new Equality(true, Revision.ZERO), progress)
                    .run(target.revision(), source, target.revision(), target.entries());
        }
    }

    private VerifyReport compareWithTarget(boolean keepsForeign)
            throws CompactedException, IncomparableException, InterruptedException {
        try (FedState source = FedState.open("topic", scope, topic)) {
            Moment moment = notBefore(source.revision());
            Checkpoint checkpoint = SyncedMoment.checkpoint(moment);
            if (!checkpoint.source().equals(source.cluster())) {
                throw new IncomparableException(
                        Why.ANOTHER_CLUSTER,
                        "the topic has source cluster " + source.cluster() + ", the target's checkpoint has "
                                + checkpoint.source());
            }
            source.advanceTo(checkpoint.revision());
            Revision keptBefore = keepsForeign ? moment.created() : Revision.ZERO;
            List<KeyRange> ranges = scope.targetRanges();
            try (SideReader target = new SideReader(
                    "target", cluster, moment.target(), moment.revision(), reading, ranges, UnaryOperator.identity())) {
                return new Comparison(scope, new Equality(false, keptBefore), progress)
                        .run(checkpoint.revision(), source.entries(), moment.revision(), target);
            }
        }
    }

    /** Returns the target once it has reached the topic's only state. */
    private Moment notBefore(Revision revision) throws IncomparableException, InterruptedException {
        long giveUpAt = System.nanoTime() + LAG_PATIENCE.toNanos();
        while (true) {
            Moment moment = SyncedMoment.now(mirror, scope, cluster);
            Revision reached = SyncedMoment.checkpoint(moment).revision();
            if (!reached.isBefore(revision)) {
                return moment;
            }
            if (System.nanoTime() - giveUpAt >= 0) {
                throw new IncomparableException(
                        Why.BEHIND,
                        "the target is at revision " + reached + ", but the topic has only the state from revision "
                                + revision + " on: the mirror is behind or not running");
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
    }
}
