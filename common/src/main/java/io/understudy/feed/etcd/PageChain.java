package io.understudy.feed.etcd;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.MoreExecutors;
import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Status;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Asks for the pages of one revision, one after the other, ahead of who takes them: the next is asked for when the last
 * has come, so that of a source that is far away a page's round trip passes while another is worked on, and the small ones
 * of the beginning, and the empty ones of the end, come while nobody waits for them. Pauses while a page's bytes wait, and
 * after a failure until that was taken.
 *
 * <p>Thread-safe; answers come on threads of gRPC's, which also ask for what is next. Its lock is held while calls are made,
 * so they must not end on the thread that makes them before it has let go.
 */
final class PageChain implements AutoCloseable {

    /** What came of a request. */
    sealed interface Outcome {

        /** A page: all there is in {@code covered}. */
        record Answer(Endpoint member, KeyRange covered, long bytes, RangeResponse response) implements Outcome {}

        /** The endpoint leads to another cluster. */
        record Foreign(Endpoint member, ClusterId cluster) implements Outcome {}

        /**
         * No answer.
         *
         * @param sinceNanos when that member was first asked
         */
        record Failure(Endpoint member, Status status, long sinceNanos) implements Outcome {}

        /** There is no member to ask. */
        record Nobody() implements Outcome {}
    }

    /** Pages that wait, however few bytes they hold: an entry takes more than its bytes. */
    private static final int MAX_WAITING = 8;

    private static final ByteString ZERO_BYTE = ByteString.copyFrom(new byte[] {0});

    private final EtcdCluster cluster;
    private final ClusterId clusterId;
    private final KeyRange range;
    private final Revision revision;
    private final EtcdFeedOptions options;

    // Under this object's lock.
    private final ArrayDeque<Outcome> waiting = new ArrayDeque<>();
    private long waitingBytes;
    private boolean hasFailed;
    private PageSize size = PageSize.FIRST;
    private PageBound bound = PageBound.NONE;
    /** Where the next page begins; null after the last. */
    private @Nullable ByteString cursor;

    private @Nullable Endpoint member;
    private long memberSinceNanos;
    private @Nullable KeyValue newest;
    private @Nullable ListenableFuture<RangeResponse> underWay;
    private boolean closed;
    /** Whether it was closed before all was taken. */
    private boolean isCutShort;

    PageChain(EtcdCluster cluster, ClusterId clusterId, KeyRange range, Revision revision, EtcdFeedOptions options) {
        this.cluster = cluster;
        this.clusterId = clusterId;
        this.range = range;
        this.revision = revision;
        this.options = options;
        this.cursor = range.from();
    }

    /** Asks for the next page, unless there is none, or one is under way, or enough wait. */
    synchronized void advance() {
        ByteString from = cursor;
        if (closed
                || from == null
                || underWay != null
                || hasFailed
                || waitingBytes > options.pageBytes()
                || waiting.size() >= MAX_WAITING) {
            return;
        }
        List<Endpoint> candidates = cluster.endpointsFor(Duty.SNAPSHOT);
        if (candidates.isEmpty()) {
            return;
        }
        // Chosen for each page: a learner that comes back, or is only now known, relieves the voter that stood in for
        // it.
        Endpoint endpoint = candidates.get(0);
        if (!endpoint.equals(member)) {
            member = endpoint;
            memberSinceNanos = System.nanoTime();
        }
        KeyRange asked = bounded(new KeyRange(from, range.to()));
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
        request.addListener(() -> ended(endpoint, asked, request), MoreExecutors.directExecutor());
    }

    /**
     * The next outcome, null if none came in time. A failed page is asked for again by the call after.
     *
     * @throws CancellationException the chain is closed
     */
    synchronized @Nullable Outcome take(Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        advance();
        while (waiting.isEmpty()) {
            if (closed) {
                throw new CancellationException("the snapshot is not read any more");
            }
            if (underWay == null) {
                return new Outcome.Nobody();
            }
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return null;
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
        }
        Outcome taken = waiting.remove();
        if (taken instanceof Outcome.Answer answer) {
            waitingBytes -= answer.bytes();
            advance();
        } else {
            hasFailed = false;
        }
        return taken;
    }

    /** Whether all pages have come. */
    synchronized boolean isRead() {
        return cursor == null;
    }

    /** Whether all were taken too; never once closed before that, since pages that waited are gone. */
    synchronized boolean isTaken() {
        return cursor == null && waiting.isEmpty() && !isCutShort;
    }

    /** Of all that have come, the entry of the highest mod revision; null if there was none. */
    synchronized @Nullable KeyValue newest() {
        return newest;
    }

    /** Where the page begins that is asked for next; null if there is none. */
    synchronized @Nullable ByteString cursor() {
        return cursor;
    }

    /**
     * Asks for half as many keys from now on.
     *
     * @return false if it was one already
     */
    synchronized boolean halve() {
        if (size.keys() == 1) {
            return false;
        }
        size = size.halved();
        return true;
    }

    /** Has another member, or the same one anew, be asked next. */
    synchronized void giveUpMember() {
        member = null;
    }

    @Override
    public void close() {
        ListenableFuture<RangeResponse> request;
        synchronized (this) {
            closed = true;
            isCutShort |= !isTaken();
            waiting.clear();
            request = underWay;
            notifyAll();
        }
        if (request != null) {
            request.cancel(true);
        }
    }

    private KeyRange bounded(KeyRange rest) {
        ByteString end = bound.of(rest.from(), size.keys());
        return end != null && rest.contains(end) && !end.equals(rest.from()) ? new KeyRange(rest.from(), end) : rest;
    }

    private Outcome answered(Endpoint endpoint, KeyRange asked, RangeResponse response) {
        ClusterId answering = new ClusterId(response.getHeader().getClusterId());
        if (!answering.equals(clusterId)) {
            return new Outcome.Foreign(endpoint, answering);
        }
        int keys = response.getKvsCount();
        requireInside(asked, response);
        long bytes = 0;
        for (KeyValue entry : response.getKvsList()) {
            bytes += (long) entry.getKey().size() + entry.getValue().size();
            if (newest == null || entry.getModRevision() > newest.getModRevision()) {
                newest = entry;
            }
        }
        ByteString next = asked.to();
        if (response.getMore()) {
            size = size.after(keys, bytes, options.pageBytes());
            ByteString last = response.getKvs(keys - 1).getKey();
            bound = bound.full(response.getKvs(0).getKey(), last, keys);
            next = last.concat(ZERO_BYTE);
        } else {
            bound = bound.tooNear(keys);
        }
        if (Objects.equals(asked.to(), range.to())) {
            bound = bound.counted(response.getCount() - keys);
        }
        cursor = next == null || next.equals(range.to()) ? null : next;
        KeyRange covered = new KeyRange(asked.from(), cursor == null ? range.to() : cursor);
        return new Outcome.Answer(endpoint, covered, bytes, response);
    }

    /** So that what follows can't fail half-way. */
    private static void requireInside(KeyRange asked, RangeResponse page) {
        int keys = page.getKvsCount();
        if (keys == 0
                ? page.getMore()
                : !asked.contains(page.getKvs(0).getKey())
                        || !asked.contains(page.getKvs(keys - 1).getKey())) {
            throw new IllegalStateException("a page of " + keys + " keys is none of " + asked);
        }
    }

    private synchronized void ended(Endpoint endpoint, KeyRange asked, ListenableFuture<RangeResponse> request) {
        underWay = null;
        if (closed) {
            return;
        }
        Outcome outcome;
        try {
            outcome = answered(endpoint, asked, Objects.requireNonNull(Futures.getDone(request)));
        } catch (ExecutionException | CancellationException e) {
            outcome = new Outcome.Failure(endpoint, Status.fromThrowable(e), memberSinceNanos);
        } catch (RuntimeException e) {
            // Nobody hears of what is thrown here.
            Status status = Status.INTERNAL.withDescription(e.getMessage()).withCause(e);
            outcome = new Outcome.Failure(endpoint, status, memberSinceNanos);
        }
        waiting.add(outcome);
        notifyAll();
        if (outcome instanceof Outcome.Answer answer) {
            waitingBytes += answer.bytes();
            advance();
        } else {
            hasFailed = true;
        }
    }
}
