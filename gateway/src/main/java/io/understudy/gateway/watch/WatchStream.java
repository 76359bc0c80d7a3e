package io.understudy.gateway.watch;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchCreateRequest.FilterType;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.grpc.Status;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.StreamedCall;
import io.understudy.gateway.caller.StreamedCall.StreamTaker;
import io.understudy.gateway.caller.StreamedCall.StreamedRequests;
import io.understudy.gateway.hub.Watcher.WatchSpec;
import io.understudy.gateway.permission.Rechecks;
import io.understudy.gateway.watch.StreamWatcher.ServedWatch;
import io.understudy.gateway.watch.WatchControl.WatchForwarding;
import io.understudy.vocabulary.KeyRange;
import io.vertx.core.Future;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A client's stream of watchers, as in etcd ({@code v3rpc/watch.go}, {@code mvcc/watcher.go}). Requests are answered in
 * their order, with events in between. Confined to the event loop of the client's connection.
 *
 * <p>Invariant N1: watch streams are answered as by etcd, response by response.
 *
 * <p>Invariant V5: for any watch requests, writes and compactions, clients get the events, responses and progress that
 * etcd sends.
 */
public final class WatchStream {

    private static final Logger LOG = LoggerFactory.getLogger(WatchStream.class);

    /** Maximum age of a permission check before events are sent. */
    private static final long PERMITTED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final ByteString ZERO = ByteString.copyFrom(new byte[] {0});

    private static final String COMPACTED = "etcdserver: mvcc: required revision has been compacted";
    private static final String EMPTY_RANGE = "mvcc: watcher range is empty";
    private static final String DUPLICATE_ID = "mvcc: duplicate watch ID provided on the WatchStream";

    private final WatchLoop loop;
    private final WatchOutput output;
    private final Caller caller;
    private final Executor calls;
    private final long openedNanos = System.nanoTime();
    private final Map<Long, StreamWatcher> watchers = new HashMap<>(2);
    private long nextId;
    private @Nullable ScheduledFuture<?> ticker;
    private @Nullable Runnable waiting;
    private boolean isWaiting;
    /** Sent to the source and not yet answered. Later creations wait for it, since answers have the order of requests. */
    private @Nullable ForwardedWatch creating;
    /** The client's last request, if it waits. */
    private @Nullable Runnable heldRequest;
    /**
     * The watcher of which fragments were forwarded, but not the last. clientv3 loses what comes in between ({@code
     * watch.go}, {@code run}).
     */
    private @Nullable ForwardedWatch fragmented;
    /** Responses until its last fragment; requests and other watchers wait. */
    private final Queue<Runnable> heldResponses = new ArrayDeque<>(0);

    private boolean flushPending;
    private boolean parked;
    private boolean over;

    WatchStream(WatchLoop loop, WatchOutput output, Caller caller, Executor calls) {
        this.loop = loop;
        this.output = output;
        this.caller = caller;
        this.calls = calls;
    }

    /**
     * Handles the client's next request, after {@code taken} has run for the previous one. Ignores messages without a
     * request.
     */
    public void receive(WatchRequest request, Runnable taken) {
        if (fragmented != null || (creating != null && request.hasCreateRequest())) {
            heldRequest = () -> receive(request, taken);
            return;
        }
        switch (request.getRequestUnionCase()) {
            case CREATE_REQUEST -> create(request.getCreateRequest(), taken);
            case CANCEL_REQUEST -> {
                cancel(request.getCancelRequest().getWatchId());
                taken.run();
            }
            case PROGRESS_REQUEST -> {
                progress();
                taken.run();
            }
            case REQUESTUNION_NOT_SET -> taken.run();
        }
    }

    /** The client reads responses again. */
    public void ready() {
        if (parked && !over) {
            parked = false;
            for (StreamWatcher watcher : List.copyOf(watchers.values())) {
                watcher.resume();
            }
        }
    }

    /** The client is gone. Idempotent. */
    public void close() {
        if (!over) {
            over = true;
            if (waiting != null) {
                waiting.run();
            }
            List.copyOf(watchers.values()).forEach(StreamWatcher::stop);
            watchers.clear();
            if (ticker != null) {
                ticker.cancel(false);
            }
            loop.closed(this);
            loop.watches().ended();
        }
    }

    /** Ends the stream with an error, unless it is over. */
    void end(ApiException why) {
        if (!over) {
            close();
            output.end(why);
        }
    }

    /** Ends the stream, so that its client resumes after a partial response. */
    private void fail(Throwable why) {
        if (!over) {
            LOG.error("watch stream failed", why);
            end(new ApiException(Status.Code.INTERNAL, "understudy: " + why));
        }
    }

    /** Pauses delivery until {@link #ready}. */
    void park() {
        parked = true;
    }

    /** Whether the stream has ended. */
    boolean isOver() {
        return over;
    }

    /** Whether a creation waits for a revision. */
    boolean isWaiting() {
        return isWaiting && !over;
    }

    /** Removes an ended watcher. */
    void remove(long id) {
        watchers.remove(id);
    }

    /** Rechecks all watchers, as permissions are enforced now. */
    void recheck() {
        watchers.values().forEach(StreamWatcher::recheck);
    }

    /** Flushes and handles its own failure: other streams have responses to flush too. */
    void flush() {
        flushPending = false;
        if (!over) {
            try {
                output.flush();
            } catch (RuntimeException | Error e) {
                fail(e);
            }
        }
    }

    private void create(WatchCreateRequest request, Runnable taken) {
        ByteString key = request.getKey().isEmpty() ? ZERO : request.getKey();
        ByteString end = request.getRangeEnd();
        // Null if it is empty; "\x00" is no end.
        KeyRange range = end.isEmpty() || end.equals(ZERO) || KeyRange.KEY_ORDER.compare(key, end) < 0
                ? KeyRange.ofEtcd(key, end)
                : null;
        permit(request, key, end, range, taken);
    }

    private void permit(
            WatchCreateRequest request, ByteString key, ByteString end, @Nullable KeyRange range, Runnable taken) {
        Future<Void> allowed = request.getStartRevision() < 0
                ? Future.succeededFuture()
                : loop.watches().permissions().check(caller.principal(), new Permission.Read(key, end));
        allowed.onComplete(checked -> {
            if (checked.cause() instanceof ApiException why
                    && (why.code() == Status.Code.UNAVAILABLE || why.passes())) {
                // The permission is unknown: the client retries, here or at another gateway.
                end(new ApiException(Status.Code.UNAVAILABLE, why.text()));
                return;
            }
            String refusal = checked.failed() ? longForm(checked.cause()) : null;
            long knownNanos = loop.watches().nanos();
            Runnable permitted = () -> {
                if (loop.watches().nanos() - knownNanos < PERMITTED_NANOS) {
                    create(request, range, refusal, taken);
                } else {
                    permit(request, key, end, range, taken);
                }
            };
            if (range == null || loop.watches().range().covers(range)) {
                whenCurrent(request.getPrevKv(), permitted);
            } else if (!over) {
                permitted.run();
            }
        });
    }

    /** Runs {@code task} once the hub has reached the client's revision, unless the stream is over. */
    private void whenCurrent(boolean previous, Runnable task) {
        if (over) {
            return;
        }
        long least = caller.session().lastRevision();
        isWaiting = true;
        waiting = loop.hub().whenAt(least, previous, () -> {
            isWaiting = false;
            if (!over) {
                try {
                    task.run();
                } catch (RuntimeException | Error e) {
                    // The client would wait for an answer.
                    fail(e);
                }
            }
        });
        if (isWaiting && loop.hub().revision(previous) < least) {
            // The client's last write may lie outside the range, so only a requested progress mark covers it.
            loop.awaitsRevision(this);
        }
    }

    /** Checks in etcd's order. */
    private void create(
            WatchCreateRequest request, @Nullable KeyRange range, @Nullable String forbidden, Runnable taken) {
        long chosen = WatchMessage.chosenId(request);
        if (request.getStartRevision() < 0) {
            refuse(COMPACTED);
        } else if (forbidden != null) {
            refuse(forbidden);
        } else if (range == null) {
            refuse(EMPTY_RANGE);
        } else if (chosen != 0 && watchers.containsKey(chosen)) {
            refuse(DUPLICATE_ID);
        } else {
            Watches watches = loop.watches();
            int most = watches.settings().maxWatchersPerStream();
            WatchForwarding forwarding = watches.range().covers(range) ? null : watches.forwarding();
            if (watchers.size() >= most) {
                refuse("understudy: too many watchers on the stream; allowed: " + most
                        + " (watches.maxWatchersPerStream)");
            } else if (forwarding != null) {
                forward(chosen == 0 ? freeId() : chosen, request, range, forwarding);
            } else {
                String refusal = refusal(range);
                if (refusal == null) {
                    add(chosen == 0 ? freeId() : chosen, request, range);
                } else {
                    refuse(refusal);
                }
            }
        }
        taken.run();
    }

    private @Nullable String refusal(KeyRange range) {
        return loop.watches().range().covers(range)
                ? loop.watches().refusal()
                : "understudy: watch range exceeds the keys of this gateway (range.prefix)";
    }

    private void forward(long id, WatchCreateRequest request, KeyRange range, WatchForwarding forwarding) {
        ForwardedWatch forwarded = new ForwardedWatch(this, id, range);
        watchers.put(id, forwarded);
        creating = forwarded;
        // In this order: the source may end it at once.
        forwarded.recheck();
        forwarded.begin(request, forwarding, caller.session().lastRevision());
    }

    /** The client's request for that watcher is answered. */
    void answered(StreamWatcher watcher) {
        if (creating == watcher) {
            creating = null;
            takeHeld();
        }
    }

    /** Whether the watcher must wait for the fragments of another. */
    boolean isHeldFor(StreamWatcher watcher) {
        return fragmented != null && fragmented != watcher;
    }

    /** Continues after the last fragment. */
    private void release() {
        // One may be the first fragment of another watcher.
        while (fragmented == null && !over && !heldResponses.isEmpty()) {
            heldResponses.remove().run();
        }
        takeHeld();
        ready();
    }

    private void takeHeld() {
        Runnable request = heldRequest;
        heldRequest = null;
        if (request != null && !over) {
            request.run();
        }
    }

    private long freeId() {
        while (watchers.containsKey(nextId)) {
            nextId++;
        }
        return nextId++;
    }

    private void add(long id, WatchCreateRequest request, KeyRange range) {
        List<FilterType> filters = request.getFiltersList();
        WatchSpec spec = new WatchSpec(
                range,
                request.getStartRevision(),
                request.getPrevKv(),
                filters.contains(FilterType.NOPUT),
                filters.contains(FilterType.NODELETE));
        ServedWatch served = new ServedWatch(
                this, loop, output, caller, id, spec, WatchMessage.fragments(request), request.getProgressNotify());
        served.begin();
        if (over) {
            // Ended by events of another watcher.
            served.stop();
            return;
        }
        watchers.put(id, served);
        served.recheck();
        if (request.getProgressNotify() && ticker == null) {
            startTicker();
        }
        send(WatchControl.created(served.revision(), id));
    }

    void refuse(String reason) {
        send(WatchControl.refused(newestKnown(), reason));
    }

    private void cancel(long id) {
        StreamWatcher watcher = watchers.remove(id);
        if (watcher != null) {
            watcher.stop();
            if (watcher == creating) {
                send(WatchControl.created(newestKnown(), id));
            }
            send(WatchControl.canceled(newestKnown(), id));
            answered(watcher);
        }
    }

    /** Reports a watcher that was cancelled for a reason. */
    void cancelled(StreamWatcher watcher, String reason) {
        boolean wasFragmented = fragmented == watcher;
        fragmented = wasFragmented ? null : fragmented;
        if (watcher == creating) {
            refuse(reason);
        } else {
            send(WatchControl.revoked(newestKnown(), watcher.id(), reason));
        }
        answered(watcher);
        if (wasFragmented) {
            release();
        }
    }

    /** A revision for responses without events, never lower than one that the client has seen. */
    long newestKnown() {
        return Math.max(loop.hub().revision(), caller.session().lastRevision());
    }

    private void progress() {
        loop.watches().reportProgress();
        loop.hub().turn();
        List<ServedWatch> served = watchers.values().stream()
                .filter(ServedWatch.class::isInstance)
                .map(ServedWatch.class::cast)
                .toList();
        if (served.size() < watchers.size()) {
            // Each at its own revision: the source is ahead of the replica, and neither waits for the other.
            List.copyOf(watchers.values()).forEach(StreamWatcher::progress);
        } else if (!served.isEmpty() && served.stream().allMatch(ServedWatch::isSynced)) {
            // Watchers with previous entries may be behind the others.
            LongSummaryStatistics revisions =
                    served.stream().mapToLong(ServedWatch::revision).summaryStatistics();
            if (revisions.getMin() == revisions.getMax()) {
                send(WatchControl.progress(revisions.getMin(), WatchControl.NO_WATCHER));
            }
        }
    }

    /** Starts at the stream's start as etcd's, but only if a watcher requests progress. */
    private void startTicker() {
        long interval = loop.watches().settings().progressInterval().toNanos();
        long jittered = interval + ThreadLocalRandom.current().nextLong(interval / 10);
        long first = jittered - (System.nanoTime() - openedNanos) % jittered;
        ticker = loop.after(first, () -> tick(jittered));
    }

    private void tick(long nanos) {
        if (!over) {
            ticker = loop.after(nanos, () -> tick(nanos));
            loop.hub().turn();
            // Responses of a tick are flushed at once, which may find the client gone.
            flushPending = true;
            try {
                List.copyOf(watchers.values()).forEach(StreamWatcher::tick);
            } finally {
                loop.flushLater(this);
            }
        }
    }

    void send(WatchControl response) {
        if (fragmented != null) {
            heldResponses.add(() -> send(response));
            return;
        }
        caller.session().answered(response.revision());
        output.control(response);
        flushLater();
    }

    /** Passes on a response of the source for that watcher; the session has its revision. */
    void pass(ForwardedWatch watcher, WatchResponse response) {
        if (isHeldFor(watcher)) {
            heldResponses.add(() -> pass(watcher, response));
            return;
        }
        output.message(response.toByteArray());
        flushLater();
        boolean wasFragmented = fragmented == watcher;
        fragmented = WatchMessage.isFragment(response) ? watcher : null;
        if (wasFragmented && fragmented == null) {
            release();
        }
    }

    /** Whether the stream has one watcher. */
    boolean isAlone() {
        return watchers.size() == 1;
    }

    long nanos() {
        return loop.watches().nanos();
    }

    void after(long nanos, Runnable task) {
        ScheduledFuture<?> unused = loop.after(nanos, task);
    }

    WatchOutput output() {
        return output;
    }

    StreamedCall watch(WatchForwarding forwarding, StreamedRequests requests, StreamTaker taker) {
        return forwarding.watch(caller, calls, requests, taker);
    }

    Rechecks.@Nullable Permit recheck(KeyRange range, Rechecks.Listener listener) {
        return loop.recheck(caller, range, listener);
    }

    void flushLater() {
        if (!flushPending) {
            flushPending = true;
            loop.flushLater(this);
        }
    }

    /** Returns an error in the form of etcd's watch server. */
    static String longForm(Throwable why) {
        if (!(why instanceof ApiException refusal)) {
            return "understudy: " + why;
        }
        String code = Stream.of(refusal.code().name().split("_", -1))
                .map(word -> word.charAt(0) + word.substring(1).toLowerCase(Locale.ROOT))
                .collect(Collectors.joining());
        return "rpc error: code = " + code + " desc = " + refusal.text();
    }
}
