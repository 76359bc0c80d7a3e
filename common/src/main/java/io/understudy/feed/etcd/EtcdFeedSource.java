package io.understudy.feed.etcd;

import com.google.common.util.concurrent.ListenableFuture;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Status;
import io.micrometer.core.instrument.MeterRegistry;
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
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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

    /**
     * Finds the oldest of the latest revisions that can still be read. A read of one key shows whether the wanted one can.
     * If it was compacted, a watch is cancelled with the compact revision, which is the only place where etcd reports it
     * ({@code v3rpc/watch.go}).
     *
     * <p>For one thread; only {@link #close} may be called from another.
     */
    private static final class OldestRevision implements AutoCloseable {

        private final EtcdCluster cluster;
        private final ClusterId clusterId;
        private final KeyRange key;
        private final Revision wanted;
        private final Duration requestTimeout;
        private final Backoff backoff;

        private boolean compacted;
        private @Nullable Endpoint probed;
        /** A healthy member that has not compacted yet, so that it can't report the revision. */
        private @Nullable Endpoint uncompacted;

        private boolean created;
        private long watchedNanos;
        private volatile @Nullable ListenableFuture<RangeResponse> reading;
        private volatile @Nullable MemberWatchStream watching;
        private volatile boolean closed;

        /**
         * @param wanted the oldest revision of interest
         * @param backoff is notified of failures, for its owner to wait
         */
        OldestRevision(
                EtcdCluster cluster,
                ClusterId clusterId,
                KeyRange range,
                Revision wanted,
                Duration requestTimeout,
                Backoff backoff) {
            this.cluster = cluster;
            this.clusterId = clusterId;
            this.key = KeyRange.single(range.etcdKey());
            this.wanted = wanted;
            this.requestTimeout = requestTimeout;
            this.backoff = backoff;
        }

        /**
         * The revision; it is after the present one if that was compacted since. Null if it isn't known in time, or the
         * request failed: then call again.
         */
        @Nullable Revision find(Duration timeout) throws InterruptedException {
            return compacted ? watch(timeout) : read(timeout);
        }

        @Override
        public void close() {
            closed = true;
            ListenableFuture<RangeResponse> request = reading;
            if (request != null) {
                request.cancel(true);
            }
            MemberWatchStream stream = watching;
            if (stream != null) {
                stream.close();
            }
        }

        private @Nullable Revision read(Duration timeout) throws InterruptedException {
            ListenableFuture<RangeResponse> request = reading;
            if (request == null) {
                Endpoint endpoint = choose(Duty.SNAPSHOT);
                if (endpoint == null) {
                    return null;
                }
                request = KVGrpc.newFutureStub(cluster.channel(endpoint))
                        .withDeadlineAfter(requestTimeout.toNanos(), TimeUnit.NANOSECONDS)
                        .range(RangeRequest.newBuilder()
                                .setKey(key.etcdKey())
                                .setKeysOnly(true)
                                .setSerializable(true)
                                .setRevision(wanted.value())
                                .build());
                reading = request;
                if (closed) {
                    request.cancel(true);
                }
            }
            try {
                RangeResponse response = request.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
                reading = null;
                if (response.getHeader().getClusterId() != clusterId.value()) {
                    failed(Duty.SNAPSHOT, "endpoint reaches another cluster");
                    return null;
                }
                backoff.succeeded();
                return wanted;
            } catch (TimeoutException | CancellationException e) {
                return null;
            } catch (ExecutionException e) {
                reading = null;
                Status status = Status.fromThrowable(e);
                EtcdError error = EtcdErrors.classify(Duty.SNAPSHOT, status).error();
                if (error == EtcdError.FUTURE_REVISION) {
                    // A learner that is behind: the reader of the pages waits for it.
                    return wanted;
                }
                if (error == EtcdError.COMPACTED) {
                    compacted = true;
                } else {
                    failed(Duty.SNAPSHOT, status.toString());
                }
                return null;
            }
        }

        private @Nullable Revision watch(Duration timeout) throws InterruptedException {
            MemberWatchStream stream = watching;
            if (stream == null) {
                Endpoint endpoint = choose(Duty.WATCH);
                if (endpoint == null) {
                    return null;
                }
                stream = MemberWatchStream.open(
                        cluster.channel(endpoint), WatchMessages.create(key, wanted, false, false), false);
                watchedNanos = System.nanoTime();
                created = false;
                watching = stream;
                if (closed) {
                    stream.close();
                }
            }
            MemberWatchStream.Signal signal = stream.next(timeout);
            if (signal instanceof MemberWatchStream.Signal.Message message) {
                WatchResponse response = message.response();
                if (response.getCanceled() && response.getCompactRevision() > 0) {
                    stream.close();
                    backoff.succeeded();
                    return new Revision(response.getCompactRevision());
                }
                if (response.getCanceled()) {
                    refused("watch rejected: " + response.getCancelReason());
                } else if (response.getCreated()) {
                    created = true;
                } else {
                    notCompacted();
                }
            } else if (signal instanceof MemberWatchStream.Signal.Closed ended) {
                refused(ended.status().toString());
            } else if (System.nanoTime() - watchedNanos > requestTimeout.toNanos()) {
                if (created) {
                    notCompacted();
                } else {
                    refused("no watch response");
                }
            }
            return null;
        }

        private void refused(String why) {
            startOver();
            failed(Duty.WATCH, why);
        }

        private void notCompacted() {
            uncompacted = probed;
            startOver();
            backoff.failed();
        }

        private void startOver() {
            MemberWatchStream stream = watching;
            if (stream != null) {
                stream.close();
            }
            watching = null;
            compacted = false;
        }

        private @Nullable Endpoint choose(Duty duty) {
            List<Endpoint> candidates = cluster.endpointsFor(duty);
            probed = candidates.stream()
                    .filter(candidate -> candidates.size() == 1 || !candidate.equals(uncompacted))
                    .findFirst()
                    .orElse(null);
            if (probed == null) {
                backoff.failed();
            }
            return probed;
        }

        private void failed(Duty duty, String why) {
            if (probed != null) {
                cluster.reportFailure(probed, duty, why);
            }
            backoff.failed();
        }
    }
}
