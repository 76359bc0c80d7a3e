package io.understudy.mirror.verify;

import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.FeedEndedException;
import io.understudy.feed.etcd.EtcdFeedOptions;
import io.understudy.feed.etcd.SnapshotReader;
import io.understudy.feed.etcd.SnapshotReader.CompactedException;
import io.understudy.mirror.verify.Merge.SortedEntries;
import io.understudy.mirror.verify.NotComparable.Why;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Reads ranges of one side at one revision, from a learner if there is one. The next page is prefetched, so two sides
 * that are read in turn are read concurrently.
 */
final class SideReader implements SortedEntries, AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final long PAUSE_MILLIS = 20;

    private final String side;
    private final EtcdCluster cluster;
    private final ClusterId clusterId;
    private final Revision revision;
    private final EtcdFeedOptions options;
    private final Iterator<KeyRange> ranges;
    private final UnaryOperator<KeyValue> named;

    private @Nullable SnapshotReader reader;
    private Iterator<KeyValue> page = Collections.emptyIterator();

    /**
     * @param side name of the side, for errors
     * @param ranges disjoint, in key order
     * @param named returns an entry under its target name
     */
    SideReader(
            String side,
            EtcdCluster cluster,
            ClusterId clusterId,
            Revision revision,
            EtcdFeedOptions options,
            List<KeyRange> ranges,
            UnaryOperator<KeyValue> named) {
        this.side = side;
        this.cluster = cluster;
        this.clusterId = clusterId;
        this.revision = revision;
        this.options = options;
        this.ranges = ranges.iterator();
        this.named = named;
    }

    @Override
    public @Nullable KeyValue next() throws CompactedException, IncomparableException, InterruptedException {
        while (!page.hasNext()) {
            SnapshotReader open = reader;
            if (open == null || open.isDone()) {
                close();
                if (!ranges.hasNext()) {
                    return null;
                }
                open = new SnapshotReader(cluster, clusterId, ranges.next(), revision, options);
                reader = open;
            }
            page = page(open).entries().iterator();
        }
        return named.apply(page.next());
    }

    private SnapshotReader.Page page(SnapshotReader open)
            throws CompactedException, IncomparableException, InterruptedException {
        long giveUpAt = System.nanoTime() + PATIENCE.toNanos();
        while (System.nanoTime() - giveUpAt < 0) {
            try {
                SnapshotReader.Page next = open.next(POLL);
                if (next != null) {
                    return next;
                }
            } catch (FeedEndedException.AnotherCluster e) {
                throw new IncomparableException(Why.ANOTHER_CLUSTER, side + ": " + e.getMessage());
            } catch (FeedEndedException e) {
                throw new IncomparableException(Why.UNAVAILABLE, side + ": " + e.getMessage());
            }
            TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        }
        throw new IncomparableException(
                Why.UNAVAILABLE,
                "the " + side + " did not return its keys at revision " + revision + " within " + PATIENCE.toSeconds()
                        + " s: it is unavailable or behind");
    }

    @Override
    public void close() {
        if (reader != null) {
            reader.close();
        }
    }
}
