package io.understudy.feed.etcd;

import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.Calls;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedMetrics;
import io.understudy.feed.FeedSource;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
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
        return new EtcdFeed(cluster, range, kind, start, options, metrics, System::nanoTime);
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
        Endpoint endpoint = endpoint(Duty.SNAPSHOT);
        if (id == null || endpoint == null) {
            return null;
        }
        KeyRange key = KeyRange.single(range.etcdKey());
        RangeRequest read = RangeRequest.newBuilder()
                .setKey(key.etcdKey())
                .setKeysOnly(true)
                .setSerializable(true)
                .setRevision(wanted.value())
                .build();
        long deadline = System.nanoTime() + options.requestTimeout().toNanos();
        try {
            RangeResponse response = Calls.unary(
                            cluster.channel(endpoint), KVGrpc.getRangeMethod(), read, options.requestTimeout())
                    .get();
            if (response.getHeader().getClusterId() == id.value()) {
                return wanted;
            }
            cluster.reportFailure(endpoint, Duty.SNAPSHOT, "endpoint reaches another cluster");
            return null;
        } catch (ExecutionException e) {
            Status status = Status.fromThrowable(e);
            EtcdError error = EtcdErrors.classify(Duty.SNAPSHOT, status).error();
            if (error == EtcdError.FUTURE_REVISION) {
                // A learner that is behind: the reader of the pages waits for it.
                return wanted;
            }
            if (error == EtcdError.COMPACTED) {
                return compactRevision(key, wanted, deadline);
            }
            cluster.reportFailure(endpoint, Duty.SNAPSHOT, status.toString());
            return null;
        }
    }

    /**
     * Reads it from a watch that is cancelled for it, the only place where etcd reports it ({@code v3rpc/watch.go}).
     *
     * @return null if the member does not answer in time, or has not compacted yet
     */
    private @Nullable Revision compactRevision(KeyRange key, Revision wanted, long deadline)
            throws InterruptedException {
        Endpoint endpoint = endpoint(Duty.WATCH);
        if (endpoint == null) {
            return null;
        }
        String failure = "no watch response";
        try (MemberWatchStream stream = MemberWatchStream.open(
                cluster.channel(endpoint), WatchMessages.create(key, wanted, false, false), false)) {
            MemberWatchStream.Signal signal = stream.next(Duration.ofNanos(deadline - System.nanoTime()));
            while (signal instanceof MemberWatchStream.Signal.Message message) {
                WatchResponse response = message.response();
                if (response.getCanceled() && response.getCompactRevision() > 0) {
                    return new Revision(response.getCompactRevision());
                }
                if (response.getCanceled()) {
                    failure = "watch rejected: " + response.getCancelReason();
                    break;
                }
                if (!response.getCreated()) {
                    return null;
                }
                failure = "";
                signal = stream.next(Duration.ofNanos(deadline - System.nanoTime()));
            }
            if (signal instanceof MemberWatchStream.Signal.Closed ended) {
                failure = ended.status().toString();
            }
        }
        if (!failure.isEmpty()) {
            cluster.reportFailure(endpoint, Duty.WATCH, failure);
        }
        return null;
    }

    private @Nullable Endpoint endpoint(Duty duty) {
        return cluster.endpointsFor(duty).stream().findFirst().orElse(null);
    }
}
