package io.understudy.gateway.watch;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.netty.util.concurrent.EventExecutor;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.hub.HubSettings;
import io.understudy.gateway.hub.WatchHub;
import io.understudy.gateway.metrics.GatewayMeter;
import io.understudy.gateway.permission.Rechecks;
import io.understudy.gateway.watch.WatchControl.WatchForwarding;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The streams of all event loops. For any thread.
 *
 * <p>Invariant V8: a cache that lists and watches as the Kubernetes API server does equals the source through restarts,
 * and lists again only after compaction.
 */
public final class Watches implements AutoCloseable {

    /** Minimum interval of progress requests to the source. */
    static final long PROGRESS_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final WatchHub hub;
    private final KeyRange range;
    private final ResponseHeaders headers;
    private final ReadPermissions permissions;
    private final Source source;
    private final long maxMessageBytes;
    private final @Nullable WatchForwarding forwarding;
    private final LongSupplier clock;
    private final AtomicLong progressNanos;
    private final Counter revocations;
    private final Map<EventExecutor, WatchLoop> loops = new ConcurrentHashMap<>();
    private final AtomicInteger streams = new AtomicInteger();
    private volatile boolean closed;

    /**
     * State of the source that watch streams need.
     *
     * @param cluster null before the first snapshot
     * @param isLeaderLost whether no quorum has confirmed a revision for {@link HubSettings#noLeaderTimeout}
     * @param unwatched time for which commits confirmed by a quorum may be missing; zero if none is
     * @param requestProgress requests a progress mark from the feed if commits outside the range advance its revision;
     *     limits the rate; doesn't wait
     */
    public record Source(
            Supplier<@Nullable ClusterId> cluster,
            BooleanSupplier isLeaderLost,
            Supplier<Duration> unwatched,
            Runnable requestProgress) {}

    /**
     * @param range of the replica
     * @param forwarding of watches of other keys; null to reject them
     * @param maxMessageBytes from which on a response is split, if the client allows
     * @param clock in nanoseconds, measures the age of permissions and progress requests
     */
    public Watches(
            WatchHub hub,
            KeyRange range,
            ResponseHeaders headers,
            ReadPermissions permissions,
            Source source,
            @Nullable WatchForwarding forwarding,
            long maxMessageBytes,
            MeterRegistry registry,
            LongSupplier clock) {
        this.forwarding = forwarding;
        this.clock = clock;
        this.progressNanos = new AtomicLong(clock.getAsLong() - PROGRESS_NANOS);
        this.hub = hub;
        this.range = range;
        this.headers = headers;
        this.permissions = permissions;
        this.source = source;
        this.maxMessageBytes = maxMessageBytes;
        this.revocations = Rechecks.revocations(registry);
        GatewayMeter.WATCH_STREAMS.gauge(streams::get).register(registry);
    }

    /**
     * Opens a stream. On {@code eventLoop}, that of the client's connection.
     *
     * @param requiresLeader whether it shall end when the source has no leader
     * @param calls the same event loop, for forwarded watches
     * @throws ApiException it would end at once, or the gateway closes
     */
    public WatchStream open(
            WatchOutput output, Caller caller, boolean requiresLeader, EventExecutor eventLoop, Executor calls)
            throws ApiException {
        if (closed) {
            throw ApiException.stopped();
        }
        ApiException problem = requiresLeader ? problem() : null;
        if (problem != null) {
            throw problem;
        }
        WatchLoop loop = on(eventLoop);
        WatchStream stream = new WatchStream(loop, output, caller, calls);
        streams.incrementAndGet();
        loop.opened(stream, requiresLeader);
        if (closed) {
            // The closing thread may have missed the loop, if this is its first stream.
            stream.close();
            throw ApiException.stopped();
        }
        return stream;
    }

    /** Ends all streams and rejects new ones, with an error that etcd's clients retry elsewhere. */
    @Override
    public void close() {
        closed = true;
        loops.forEach((eventLoop, loop) -> eventLoop.execute(() -> loop.end(ApiException.stopped())));
    }

    long nanos() {
        return clock.getAsLong();
    }

    @Nullable WatchForwarding forwarding() {
        return forwarding;
    }

    WatchLoop on(EventExecutor eventLoop) {
        WatchLoop known = loops.get(eventLoop);
        return known == null
                ? loops.computeIfAbsent(
                        eventLoop,
                        made -> new WatchLoop(made, this, hub.on(made), new WatchHeaders(headers, source.cluster())))
                : known;
    }

    void ended() {
        streams.decrementAndGet();
    }

    /**
     * Returns why the source could not be watched for the configured time; null if it could. Thread-safe. With "no
     * leader", clientv3 closes all watchers of a stream, so while a quorum confirms revisions the error is another, after
     * which it resumes them.
     */
    @Nullable ApiException problem() {
        if (source.isLeaderLost().getAsBoolean()) {
            return ApiException.noLeader();
        }
        return source.unwatched().get().compareTo(settings().noLeaderTimeout()) < 0 ? null : ApiException.timedOut();
    }

    HubSettings settings() {
        return hub.settings();
    }

    KeyRange range() {
        return range;
    }

    ReadPermissions permissions() {
        return permissions;
    }

    Counter revocations() {
        return revocations;
    }

    long maxMessageBytes() {
        return maxMessageBytes;
    }

    /** Returns the reason to reject another watcher; null if it is allowed. */
    @Nullable String refusal() {
        return hub.hasRoom()
                ? null
                : "understudy: too many watchers; allowed: " + settings().maxWatchers() + " (watches.maxWatchers)";
    }

    void requestProgress() {
        source.requestProgress().run();
    }

    /**
     * Requests progress for all clients that request it, at most once per 100 ms. Until then they get the last known
     * revision.
     */
    void reportProgress() {
        long now = nanos();
        long before = progressNanos.get();
        if (now - before >= PROGRESS_NANOS && progressNanos.compareAndSet(before, now)) {
            requestProgress();
        }
    }
}
