package io.understudy.feed.etcd;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import com.google.common.util.concurrent.MoreExecutors;
import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.RangeResponse;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdMessages;
import io.understudy.etcd.Role;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Requests the pages of one revision ahead of their reader, {@value #MAX_UNDER_WAY} at a time. Two are under way only
 * where the end of one can be estimated. So round trips to a distant source overlap, and the small first pages and the
 * empty last ones arrive before they are needed. Pages are taken in key order. No more are requested while a page's
 * bytes wait, except for the page that those wait for; nor after a failure until the reader takes again.
 *
 * <p>A gateway sends all in one {@link PageStream} if its replica has them. The stream continues as pages are taken.
 *
 * <p>Thread-safe; responses arrive on gRPC threads, which also send the next request. Its lock is held during calls.
 *
 * <p>Invariant F11: two pages are requested at a time, or a stream of them, and delivered in key order, each once,
 * whatever their guessed bounds.
 */
final class PageChain implements AutoCloseable {

    /** Outcome of a request. */
    sealed interface Outcome {

        /** A page: all there is in {@code covered}. */
        record Answer(Endpoint member, KeyRange covered, long bytes, RangeResponse response) implements Outcome {}

        /** The endpoint leads to another cluster. */
        record Foreign(Endpoint member, ClusterId cluster) implements Outcome {}

        /**
         * A failed request.
         *
         * @param range of the request
         * @param keys requested of it
         */
        record Failure(Endpoint member, KeyRange range, int keys, Status status) implements Outcome {}

        /** No member can be used. */
        record NoMember() implements Outcome {}
    }

    private static final int MAX_UNDER_WAY = 2;

    /** Pages that wait, however few bytes they hold: an entry takes more than its bytes. */
    private static final int MAX_WAITING = 8;

    private static final long HEAP_BYTES = Runtime.getRuntime().maxMemory();

    /** Maximum bytes of a page: decoding takes several times that, and five may be held. */
    private static final long MOST_PAGE_BYTES = Math.max(64 << 10, HEAP_BYTES / 256);

    /** Maximum size of a response; a larger page is requested again with fewer keys. */
    private static final int MOST_ANSWER_BYTES = (int) Math.max(4 << 20, Math.min(64 << 20, HEAP_BYTES / 16));

    private final EtcdCluster cluster;
    private final ClusterId clusterId;
    private final List<KeyRange> ranges;
    private final Revision revision;
    private final EtcdFeedOptions options;
    private final long pageBytes;

    // Under this object's lock.
    private final RangeParts<Request, Outcome.Answer> parts;
    private long waitingBytes;
    private PageSize size = PageSize.FIRST;
    /** Whether a page was too large, or did not arrive in time. */
    private boolean hasShrunk;
    /** Whether gateways stream pages, as far as known. */
    private boolean mayStream = true;

    private PageBound bound = PageBound.NONE;
    /** Waits to be taken, behind the answers that can be. */
    private @Nullable Outcome failure;
    /** True from a failure until the reader takes again. */
    private boolean isPaused;
    /** Number of failures taken, by which repeated failures of earlier requests are ignored. */
    private int failures;

    private @Nullable KeyValue newest;
    private boolean closed;
    /** Whether it was closed before all was taken. */
    private boolean isCutShort;

    /**
     * A page that is under way, or a stream of them.
     *
     * @param size how many keys it may have; one for a stream, since its messages cannot be made smaller
     * @param guessed how many its range was guessed to hold, 0 if that is none of a guess
     * @param failures how many there were before
     * @param sentNanos when it was sent, by {@link System#nanoTime}
     * @param stream null for a page
     */
    private record Request(
            Endpoint member,
            PageSize size,
            int guessed,
            int failures,
            long sentNanos,
            Runnable cancel,
            @Nullable PageStream stream) {}

    PageChain(
            EtcdCluster cluster,
            ClusterId clusterId,
            List<KeyRange> ranges,
            Revision revision,
            EtcdFeedOptions options) {
        this.cluster = cluster;
        this.clusterId = clusterId;
        this.ranges = ranges;
        this.revision = revision;
        this.options = options;
        this.pageBytes = Math.min(options.pageBytes(), MOST_PAGE_BYTES);
        this.parts = new RangeParts<>(ranges);
    }

    /** Requests the next pages, unless there are none, or enough are under way or wait. */
    synchronized void advance() {
        for (Request request : parts.underWay()) {
            if (request.stream() != null) {
                if (hasRoom() || parts.isFirst(parts.of(request))) {
                    request.stream().resume();
                }
                return;
            }
        }
        while (!closed && !isPaused && parts.underWay().size() < MAX_UNDER_WAY) {
            RangeParts.Part<Request, Outcome.Answer> next = parts.nextToRequest();
            if (next == null || (!parts.isFirst(next) && !mayRequestMore())) {
                return;
            }
            List<Endpoint> candidates = cluster.endpointsFor(Duty.SNAPSHOT);
            if (candidates.isEmpty()) {
                return;
            }
            // Chosen for each page: a learner that comes back relieves the voter in its place.
            Endpoint endpoint = candidates.get(0);
            boolean isGateway = cluster.view()
                    .memberAt(endpoint)
                    .filter(member -> member.role() == Role.GATEWAY)
                    .isPresent();
            if (mayStream && isGateway) {
                // A page under way may leave a rest, which would wait for the stream, and the stream for room.
                if (parts.underWay().isEmpty()) {
                    stream(next, endpoint);
                }
                return;
            }
            request(next, endpoint);
        }
    }

    private boolean hasRoom() {
        return waitingBytes <= pageBytes && parts.waiting() < MAX_WAITING;
    }

    /** Whether to request a page that no other waits for. A page that others wait for is always requested. */
    private boolean mayRequestMore() {
        return hasRoom()
                // Nothing is requested beyond a bound that may be anywhere.
                && (parts.underWay().isEmpty() || bound.isNear());
    }

    private void request(RangeParts.Part<Request, Outcome.Answer> rest, Endpoint endpoint) {
        ByteString end = bound.of(rest.range().from(), size.keys(), size.most());
        RangeParts.Part<Request, Outcome.Answer> part = rest;
        int guessed = 0;
        if (end != null && rest.range().contains(end)) {
            part = parts.cut(rest, end);
            guessed = size.keys();
        }
        bound = bound.requested(guessed);
        long sentNanos = System.nanoTime();
        ListenableFuture<RangeResponse> response = KVGrpc.newFutureStub(cluster.channel(endpoint))
                .withDeadlineAfter(options.requestTimeout().toNanos(), TimeUnit.NANOSECONDS)
                .withMaxInboundMessageSize(MOST_ANSWER_BYTES)
                .range(EtcdMessages.range(part.range())
                        .setRevision(revision.value())
                        .setLimit(size.most())
                        .setSerializable(true)
                        .build());
        Request request = new Request(endpoint, size, guessed, failures, sentNanos, () -> response.cancel(true), null);
        parts.requested(part, request);
        response.addListener(() -> arrived(request, () -> Futures.getDone(response)), MoreExecutors.directExecutor());
    }

    private void stream(RangeParts.Part<Request, Outcome.Answer> part, Endpoint endpoint) {
        PageStream stream = new PageStream(cluster.channel(endpoint), MOST_ANSWER_BYTES, pageBytes);
        Request request =
                new Request(endpoint, new PageSize(1), 0, failures, System.nanoTime(), stream::cancel, stream);
        parts.requested(part, request);
        stream.start(
                EtcdMessages.range(part.range())
                        .setRevision(revision.value())
                        .setSerializable(true)
                        .build(),
                page -> arrived(request, page));
    }

    /**
     * The next outcome, null if none came in time. A failed page is requested again by the next call.
     *
     * @throws CancellationException the chain is closed
     */
    synchronized @Nullable Outcome take(Duration timeout) throws InterruptedException {
        long deadline = System.nanoTime() + timeout.toNanos();
        isPaused = failure != null;
        advance();
        while (true) {
            if (closed) {
                throw new CancellationException("snapshot reader is closed");
            }
            Outcome.Answer answer = parts.take();
            if (answer != null) {
                waitingBytes -= answer.bytes();
                advance();
                return answer;
            }
            Outcome failed = failure;
            if (failed != null) {
                failure = null;
                failures++;
                return failed;
            }
            if (parts.underWay().isEmpty()) {
                return new Outcome.NoMember();
            }
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                return null;
            }
            TimeUnit.NANOSECONDS.timedWait(this, Math.min(left, cancelLateStream()));
        }
    }

    /** Returns the nanoseconds until a stream would be late. */
    private long cancelLateStream() {
        long left = Long.MAX_VALUE;
        for (Request request : parts.underWay()) {
            if (request.stream() != null) {
                left = request.stream().cancelIfLate(options.requestTimeout());
            }
        }
        return left;
    }

    /** Whether all pages have arrived. */
    synchronized boolean isRead() {
        return parts.isAnswered();
    }

    /** Whether all pages were taken, too. False for good if closed earlier, since waiting pages were dropped. */
    synchronized boolean isTaken() {
        return parts.isTaken() && !isCutShort;
    }

    /** The received entry of the highest mod revision; null if there is none. */
    synchronized @Nullable KeyValue newest() {
        return newest;
    }

    /**
     * Limits requests to half of {@code tooMany} keys, or fewer.
     *
     * @return false if it was one already
     */
    synchronized boolean halve(int tooMany) {
        if (tooMany == 1) {
            return false;
        }
        hasShrunk = true;
        if (size.keys() >= tooMany) {
            size = new PageSize(tooMany).halved();
        }
        return true;
    }

    @Override
    public void close() {
        List<Request> requests;
        synchronized (this) {
            closed = true;
            isCutShort |= !isTaken();
            requests = parts.underWay();
            parts.forgetAll();
            notifyAll();
        }
        requests.forEach(request -> request.cancel().run());
    }

    /** A page has arrived, or a request has failed. */
    private synchronized void arrived(Request request, Callable<RangeResponse> page) {
        RangeParts.Part<Request, Outcome.Answer> part = parts.of(request);
        if (part == null) {
            return;
        }
        Outcome outcome;
        try {
            outcome = answered(part, request, Objects.requireNonNull(page.call()));
        } catch (ExecutionException | CancellationException | StatusRuntimeException e) {
            outcome = new Outcome.Failure(
                    request.member(), part.range(), request.size().keys(), Status.fromThrowable(e));
        } catch (Exception e) {
            // No caller sees what is thrown here.
            Status status = Status.INTERNAL.withDescription(e.getMessage()).withCause(e);
            outcome = new Outcome.Failure(
                    request.member(), part.range(), request.size().keys(), status);
        }
        notifyAll();
        if (outcome instanceof Outcome.Answer answer) {
            waitingBytes += answer.bytes();
        } else {
            parts.failed(part);
            // A stream would continue after a rejected page.
            request.cancel().run();
            bound = bound.requested(-request.guessed());
            if (request.stream() != null
                    && outcome instanceof Outcome.Failure failed
                    && failed.status().getCode() == Status.Code.UNIMPLEMENTED) {
                mayStream = false;
            } else if (failure == null && request.failures() == failures) {
                failure = outcome;
                isPaused = true;
            }
        }
        advance();
    }

    private Outcome answered(RangeParts.Part<Request, Outcome.Answer> part, Request request, RangeResponse response) {
        ClusterId answering = new ClusterId(response.getHeader().getClusterId());
        if (!answering.equals(clusterId)) {
            return new Outcome.Foreign(request.member(), answering);
        }
        requireInside(part.range(), response);
        List<KeyValue> page = response.getKvsList();
        for (KeyValue entry : page) {
            if (newest == null || entry.getModRevision() > newest.getModRevision()) {
                newest = entry;
            }
        }
        long bytes = bytes(page);
        ByteString rest = response.getMore()
                ? KeyRange.successor(page.get(page.size() - 1).getKey())
                : null;
        Function<KeyRange, Outcome.Answer> made =
                covered -> new Outcome.Answer(request.member(), covered, bytes, response);
        if (request.stream() != null) {
            return rest == null ? parts.answered(part, null, made) : parts.continued(part, rest, made);
        }
        boolean isOpen =
                ranges.stream().anyMatch(range -> Objects.equals(part.range().to(), range.to()));
        bound = isOpen
                ? bound.afterOpen(page, response.getCount() - page.size())
                : bound.after(page, request.guessed(), response.getMore());
        // A page of few keys is a poor measure of the following ones.
        if (page.size() > request.size().keys() / 2) {
            // Once a page was too large or late, one of more bytes could be again: half of the timeout is left for
            // variation.
            long took = Math.max(1, System.nanoTime() - request.sentNanos());
            long growth = hasShrunk ? options.requestTimeout().toNanos() / 2 / took : Long.MAX_VALUE;
            PageSize next = request.size().after(page.size(), bytes, pageBytes, growth);
            // A page that was requested before may be of another size.
            size = request.size().equals(size) || next.keys() < size.keys() ? next : size;
        }
        return parts.answered(part, rest, made);
    }

    /** Bytes of keys and values. */
    static long bytes(List<KeyValue> page) {
        return page.stream()
                .mapToLong(
                        entry -> (long) entry.getKey().size() + entry.getValue().size())
                .sum();
    }

    /** Requires keys inside the range, before anything of the page is used. */
    private static void requireInside(KeyRange range, RangeResponse page) {
        int keys = page.getKvsCount();
        if (keys == 0
                ? page.getMore()
                : !range.contains(page.getKvs(0).getKey())
                        || !range.contains(page.getKvs(keys - 1).getKey())) {
            throw new IllegalStateException("page of " + keys + " keys is outside the requested range " + range);
        }
    }

    /**
     * How many keys to request in the next page. Starts small, since the values are unknown, and follows the bytes seen.
     *
     * @param keys at least 1
     */
    record PageSize(int keys) {

        /** Small enough for the largest values that etcd takes by default (1.5 MiB each). */
        static final PageSize FIRST = new PageSize(16);

        /** Maximum keys of a page; more do not reduce the cost per key. */
        private static final int MAX_KEYS = 10_000;

        /** Maximum growth by one page: large values may follow a page of tiny keys. */
        private static final int MAX_GROWTH = 8;

        PageSize {
            if (keys < 1) {
                throw new IllegalArgumentException("page size must be at least 1 key, is " + keys);
            }
        }

        /** Maximum keys of a page: a quarter more than wanted, since its end is estimated. */
        int most() {
            return keys + keys / 4;
        }

        /**
         * The size after a page of {@code pageKeys} keys had {@code pageBytes} bytes, aiming at {@code targetBytes}.
         *
         * @param growth maximum factor to grow by; at least 1 is used
         */
        PageSize after(int pageKeys, long pageBytes, long targetBytes, long growth) {
            if (pageKeys == 0) {
                return this;
            }
            long perKey = Math.max(1, pageBytes / pageKeys);
            long wanted = Math.min(targetBytes / perKey, keys * Math.max(1, Math.min(MAX_GROWTH, growth)));
            return new PageSize((int) Math.max(1, Math.min(MAX_KEYS, wanted)));
        }

        /** The size after an answer was too large to be received, or to arrive in time. */
        PageSize halved() {
            return new PageSize(Math.max(1, keys / 2));
        }
    }
}
