package io.understudy.feed.etcd;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Status;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdFailure;
import io.understudy.etcd.Remedy;
import io.understudy.feed.FeedEndedException.AnotherCluster;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Reads one revision of a range in pages, serializably: from a learner when there is one, waiting until it has reached
 * the revision, else from voters. Being pinned, pages may come from different members. The next page is under way while
 * the consumer works on the last.
 *
 * <p>For one thread; only {@link #close} may be called from another.
 */
public final class SnapshotReader implements AutoCloseable {

    /** A page: all there is in {@code covered}. */
    public record Page(KeyRange covered, List<KeyValue> entries) {

        /** Bytes of keys and values. */
        public long bytes() {
            return entries.stream().mapToLong(KeyValue::bytes).sum();
        }
    }

    /** The revision was compacted away while it was read: begin anew at a later one. */
    public static final class CompactedException extends Exception {
        private static final long serialVersionUID = 1L;
    }

    private static final Logger LOG = LoggerFactory.getLogger(SnapshotReader.class);

    /** Pause before a page is asked for again, of a member that has not reached the revision for example. */
    private static final long RETRY_MILLIS = 20;

    private static final int MAX_REFUSALS_OF_ONE_KEY = 3;

    private static final ByteString ZERO_BYTE = ByteString.copyFrom(new byte[] {0});

    private final EtcdCluster cluster;
    private final ClusterId clusterId;
    private final KeyRange range;
    private final Revision revision;
    private final EtcdFeedOptions options;
    private final Backoff backoff;

    private PageSize size = PageSize.FIRST;
    private PageBound bound = PageBound.NONE;
    /** The range of the page that was last asked for. */
    private KeyRange asked;
    /** Where the next page begins; null after the last. */
    private @Nullable ByteString cursor;

    private @Nullable Endpoint member;
    private @Nullable Endpoint givenBy;
    private long memberSinceNanos;
    private int refusalsOfOneKey;
    private @Nullable KeyValue newest;
    private volatile @Nullable ListenableFuture<RangeResponse> underWay;
    private volatile boolean closed;

    /**
     * A reader that nobody else is held up by.
     *
     * @param clusterId that must be the answering members' own
     * @param revision to be read; a member that hasn't reached it is waited for
     */
    public SnapshotReader(
            EtcdCluster cluster, ClusterId clusterId, KeyRange range, Revision revision, EtcdFeedOptions options) {
        this(cluster, clusterId, range, revision, options, new Backoff());
    }

    /** @param backoff told of failures, for its owner to wait */
    SnapshotReader(
            EtcdCluster cluster,
            ClusterId clusterId,
            KeyRange range,
            Revision revision,
            EtcdFeedOptions options,
            Backoff backoff) {
        this.cluster = cluster;
        this.clusterId = clusterId;
        this.range = range;
        this.revision = revision;
        this.options = options;
        this.backoff = backoff;
        this.cursor = range.from();
        this.asked = range;
    }

    /** The entry of the highest mod revision read so far, null if nothing was. */
    @Nullable KeyValue newest() {
        return newest;
    }

    /** Who gave the last page; null before the first. */
    public @Nullable Endpoint givenBy() {
        return givenBy;
    }

    /** Whether the last page was given. */
    public boolean isDone() {
        return cursor == null;
    }

    /**
     * The next page, or null if it did not come in time, or the member that was asked failed: then call again, after a
     * pause.
     *
     * @throws CompactedException the revision is gone
     */
    public @Nullable Page next(Duration timeout)
            throws CompactedException, AnotherCluster, Unexplained, InterruptedException {
        ByteString from = cursor;
        if (from == null) {
            throw new IllegalStateException("the snapshot was read to its end");
        }
        ListenableFuture<RangeResponse> request = underWay;
        if (request == null) {
            request = ask(from);
        }
        if (request == null) {
            return null;
        }
        try {
            RangeResponse response = request.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
            underWay = null;
            return page(from, response);
        } catch (TimeoutException e) {
            return null;
        } catch (ExecutionException e) {
            underWay = null;
            failed(Objects.requireNonNull(member), Status.fromThrowable(e));
            return null;
        }
    }

    @Override
    public void close() {
        closed = true;
        ListenableFuture<RangeResponse> request = underWay;
        if (request != null) {
            request.cancel(true);
        }
    }

    /** Asks for the page from {@code from}; null when there is nobody to ask. */
    private @Nullable ListenableFuture<RangeResponse> ask(ByteString from) throws AnotherCluster {
        List<Endpoint> candidates = cluster.endpointsFor(Duty.SNAPSHOT);
        if (candidates.isEmpty()) {
            SourceFacts.requireOwnCluster(cluster, clusterId);
            backoff.failed();
            return null;
        }
        // Chosen for each page: a learner that comes back, or is only now known, relieves the voter that stood in for
        // it.
        Endpoint endpoint = candidates.get(0);
        if (!endpoint.equals(member)) {
            member = endpoint;
            memberSinceNanos = System.nanoTime();
        }
        asked = bounded(new KeyRange(from, range.to()));
        ListenableFuture<RangeResponse> request = KVGrpc.newFutureStub(cluster.channel(endpoint))
                .withDeadlineAfter(options.requestTimeout().toNanos(), TimeUnit.NANOSECONDS)
                .range(RangeRequest.newBuilder()
                        .setKey(asked.etcdKey())
                        .setRangeEnd(asked.etcdRangeEnd())
                        .setRevision(revision.value())
                        .setLimit(size.keys())
                        .setSerializable(true)
                        .build());
        underWay = request;
        if (closed) {
            request.cancel(true);
        }
        return request;
    }

    private KeyRange bounded(KeyRange rest) {
        ByteString end = bound.of(rest.from(), size.keys());
        return end != null && rest.contains(end) && !end.equals(rest.from()) ? new KeyRange(rest.from(), end) : rest;
    }

    private @Nullable Page page(ByteString from, RangeResponse response) throws AnotherCluster {
        ClusterId answering = new ClusterId(response.getHeader().getClusterId());
        if (!answering.equals(clusterId)) {
            giveUp(Objects.requireNonNull(member), "it now leads to cluster " + answering);
            SourceFacts.requireOwnCluster(cluster, clusterId);
            return null;
        }
        backoff.succeeded();
        List<KeyValue> entries = new ArrayList<>(response.getKvsCount());
        long bytes = 0;
        for (io.etcd.jetcd.api.KeyValue kv : response.getKvsList()) {
            KeyValue entry = WatchMessages.keyValue(kv);
            entries.add(entry);
            bytes += entry.bytes();
            if (newest == null || entry.modRevision().isAfter(newest.modRevision())) {
                newest = entry;
            }
        }
        refusalsOfOneKey = 0;
        givenBy = member;
        ByteString next = asked.to();
        if (response.getMore()) {
            size = size.after(entries.size(), bytes, options.pageBytes());
            ByteString last = entries.get(entries.size() - 1).key();
            bound = bound.full(entries.get(0).key(), last, entries.size());
            next = last.concat(ZERO_BYTE);
        } else {
            bound = bound.tooNear();
        }
        if (next == null || next.equals(range.to())) {
            cursor = null;
            return new Page(new KeyRange(from, range.to()), entries);
        }
        cursor = next;
        underWay = ask(next);
        return new Page(new KeyRange(from, next), entries);
    }

    /** Decides how to go on; the page is asked for again by the next call. */
    private void failed(Endpoint endpoint, Status status) throws CompactedException, Unexplained, InterruptedException {
        EtcdFailure failure = EtcdErrors.classify(Duty.SNAPSHOT, status);
        if (failure.error() == EtcdError.COMPACTED) {
            throw new CompactedException();
        }
        boolean behind = failure.error() == EtcdError.FUTURE_REVISION;
        if (failure.remedy() == Remedy.FATAL || (failure.remedy() == Remedy.CALLERS_FAULT && !behind)) {
            throw new Unexplained(endpoint + " refuses the snapshot: " + failure, status.asException());
        }
        boolean tooLarge = failure.code() == Status.Code.RESOURCE_EXHAUSTED;
        if (tooLarge && size.keys() > 1) {
            size = size.halved();
        } else if (tooLarge && ++refusalsOfOneKey >= MAX_REFUSALS_OF_ONE_KEY) {
            throw new Unexplained("the first key from " + cursor + " cannot be read from " + endpoint + ": " + failure);
        } else if (!behind
                || System.nanoTime() - memberSinceNanos
                        > options.requestTimeout().toNanos()) {
            giveUp(endpoint, failure.toString());
            return;
        }
        TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
    }

    private void giveUp(Endpoint endpoint, String why) {
        LOG.atLevel(backoff.isFirst() ? Level.INFO : Level.DEBUG)
                .log("snapshot goes on elsewhere, member={} revision={} cause=\"{}\"", endpoint, revision, why);
        cluster.reportFailure(endpoint, Duty.SNAPSHOT, why);
        member = null;
        backoff.failed();
    }
}
