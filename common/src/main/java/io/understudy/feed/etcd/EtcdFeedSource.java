package io.understudy.feed.etcd;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.EtcdCluster;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedMetrics;
import io.understudy.feed.FeedSource;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Feeds of one etcd cluster. Thread-safe; the cluster stays the caller's to close, after its feeds. */
public final class EtcdFeedSource implements FeedSource {

    private final EtcdCluster cluster;
    private final EtcdFeedOptions options;
    private final FeedMetrics metrics;

    /** @param name distinguishes this source's metrics from another's in the same process, such as a mirror's name */
    public EtcdFeedSource(String name, EtcdCluster cluster, EtcdFeedOptions options, MeterRegistry metrics) {
        this(cluster, options, new FeedMetrics(name, metrics));
    }

    public EtcdFeedSource(EtcdCluster cluster, EtcdFeedOptions options, FeedMetrics metrics) {
        this.cluster = cluster;
        this.options = options;
        this.metrics = metrics;
    }

    @Override
    public Feed open(KeyRange range, FeedKind kind, @Nullable FeedStart start) {
        return new EtcdFeed(cluster, range, kind, start, options, metrics);
    }

    /**
     * Begins to read the past of {@code range}. Connects lazily, in the first {@link EtcdHistory#next}.
     *
     * @param from revision of the first commit wanted, at least 1
     * @param previous whether commits include the previous values of their keys
     */
    public EtcdHistory history(KeyRange range, Revision from, boolean previous) {
        return new EtcdHistory(cluster, range, from, previous, options, metrics);
    }

    /**
     * The oldest revision from {@code wanted} on that the source has not compacted. Costs one read of a single key, and
     * one watch if it was compacted.
     *
     * @return null if no member answers within the request timeout
     */
    public @Nullable Revision oldest(KeyRange range, Revision wanted) throws InterruptedException {
        ClusterId id = cluster.view().clusterId();
        if (id == null) {
            return null;
        }
        Backoff backoff = new Backoff();
        Duration timeout = options.requestTimeout();
        long deadline = System.nanoTime() + timeout.toNanos();
        try (OldestRevision looking = new OldestRevision(cluster, id, range, wanted, timeout, backoff)) {
            Revision found = null;
            for (long left = timeout.toNanos();
                    found == null && left > 0 && backoff.isFirst();
                    left = deadline - System.nanoTime()) {
                found = looking.find(Duration.ofNanos(left));
            }
            return found;
        }
    }
}
