package io.understudy.gateway.rest;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.hub.LoopHub;
import io.understudy.gateway.permission.Rechecks;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The streams of commits on one event loop. Confined to that loop unless stated otherwise. */
final class CommitStreams {

    private static final long DECISION_MILLIS = 20;
    private static final long PERMISSION_CHECK_MILLIS = 500;

    private final EventExecutor loop;
    private final StreamSource source;
    private final LoopHub hub;
    private final Set<CommitStream> open = new HashSet<>();
    private final Map<StreamForm, CommitText> texts = new EnumMap<>(StreamForm.class);
    private final Map<StreamForm, ByteBuf> shared = new EnumMap<>(StreamForm.class);
    private @Nullable EventBatch sharedBatch;
    private @Nullable ScheduledFuture<?> heartbeat;
    private @Nullable ScheduledFuture<?> permissionCheck;
    private final Rechecks rechecks;
    /** Streams that have not started yet. */
    private int coming;

    private boolean closed;
    /** The size of {@link #open}, for other threads. */
    private volatile int size;

    CommitStreams(EventExecutor loop, StreamSource source) {
        this.loop = loop;
        this.source = source;
        this.hub = source.hub().on(loop);
        this.rechecks = new Rechecks(source.permissions(), source.revocations());
    }

    /** Answers a request for a stream. */
    void open(RestExchange exchange, Caller caller, StreamQuery query) throws ProblemDetails {
        if (!source.range().covers(query.spec().range())) {
            throw new ProblemDetails(
                    400,
                    Status.Code.OUT_OF_RANGE,
                    "understudy: watch range exceeds the keys of this gateway (range.prefix)");
        }
        if (coming >= source.hub().settings().maxWatchers()) {
            throw tooMany();
        }
        coming++;
        new ComingStream(
                        exchange,
                        caller,
                        query,
                        source,
                        loop,
                        () -> begin(exchange, new CommitStream(this, exchange, query, caller)),
                        () -> coming--)
                .begin();
    }

    private ProblemDetails tooMany() {
        return new ProblemDetails(
                429,
                Status.Code.RESOURCE_EXHAUSTED,
                "understudy: too many watchers; allowed: "
                        + source.hub().settings().maxWatchers() + " (watches.maxWatchers)");
    }

    private void begin(RestExchange exchange, CommitStream stream) {
        if (exchange.over()) {
            return;
        }
        if (closed) {
            exchange.refuse(new ProblemDetails(503, Status.Code.UNAVAILABLE, "etcdserver: server stopped"));
        } else if (!source.hub().hasRoom()) {
            exchange.refuse(tooMany());
        } else {
            open.add(stream);
            size = open.size();
            if (heartbeat == null) {
                long nanos = source.heartbeatInterval().toNanos();
                heartbeat = loop.scheduleAtFixedRate(this::tick, nanos, nanos, TimeUnit.NANOSECONDS);
                permissionCheck = loop.scheduleAtFixedRate(
                        this::checkPermissions,
                        PERMISSION_CHECK_MILLIS,
                        PERMISSION_CHECK_MILLIS,
                        TimeUnit.MILLISECONDS);
            }
            stream.begin();
            decideSoon(stream);
        }
    }

    private void decideSoon(CommitStream stream) {
        if (stream.undecided()) {
            ScheduledFuture<?> unused = loop.schedule(
                    () -> {
                        stream.decide();
                        decideSoon(stream);
                    },
                    DECISION_MILLIS,
                    TimeUnit.MILLISECONDS);
        }
    }

    /** Rechecks periodically whether the range may still be read; null if not required. */
    Rechecks.@Nullable Permit recheck(Principal principal, KeyRange range, Rechecks.Listener listener) {
        if (!source.permissions().areRechecked()) {
            return null;
        }
        return rechecks.begin(principal, new Permission.Read(range.etcdKey(), range.etcdRangeEnd()), listener);
    }

    private void checkPermissions() {
        if (source.permissions().areRechecked()) {
            open.forEach(CommitStream::recheck);
        }
    }

    private void tick() {
        // Delivers what was committed since the last turn.
        hub.turn();
        List.copyOf(open).forEach(CommitStream::tick);
    }

    /** The interval after which a quiet stream reports its revision. */
    Duration heartbeatInterval() {
        return source.heartbeatInterval();
    }

    LoopHub hub() {
        return hub;
    }

    CommitText text(StreamForm form) {
        return texts.computeIfAbsent(form, CommitText::new);
    }

    /** Encoded once for all clients with the same batch. */
    @SuppressWarnings("ReferenceEquality") // It has no other identity.
    ByteBuf textOf(EventBatch batch, StreamForm form) {
        if (sharedBatch != batch) {
            shared.clear();
            sharedBatch = batch;
            hub.afterwards(() -> {
                shared.clear();
                sharedBatch = null;
            });
        }
        return shared.computeIfAbsent(form, each -> text(each).commits(batch)).retainedDuplicate();
    }

    void closed(CommitStream stream) {
        open.remove(stream);
        size = open.size();
        if (open.isEmpty()) {
            heartbeat = cancelled(heartbeat);
            permissionCheck = cancelled(permissionCheck);
        }
    }

    private static @Nullable ScheduledFuture<?> cancelled(@Nullable ScheduledFuture<?> timer) {
        if (timer != null) {
            timer.cancel(false);
        }
        return null;
    }

    /** The number of open streams. Thread-safe. */
    int size() {
        return size;
    }

    /** Ends all streams and starts no more. Thread-safe. */
    void close() {
        loop.execute(() -> {
            closed = true;
            List.copyOf(open).forEach(CommitStream::end);
        });
    }

    /**
     * A request for a commit stream that waits for its permission check and its revision. Dropped if the client
     * disconnects. Confined to its connection's event loop.
     */
    private static final class ComingStream {

        /** Maximum age of a permission check before commits are sent. */
        private static final long PERMITTED_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

        private static final long MOST_WAIT_SECONDS = 30;

        private final RestExchange exchange;
        private final Caller caller;
        private final StreamQuery query;
        private final StreamSource source;
        private final LoopHub hub;
        private final Runnable then;
        private final Runnable whenOver;
        private final ScheduledFuture<?> limit;
        private @Nullable Runnable withdraw;
        private long permittedNanos;
        private boolean over;

        /**
         * @param then serves the request
         * @param whenOver runs once, before {@code then}, or when the client is gone or was rejected
         */
        ComingStream(
                RestExchange exchange,
                Caller caller,
                StreamQuery query,
                StreamSource source,
                EventExecutor loop,
                Runnable then,
                Runnable whenOver) {
            this.exchange = exchange;
            this.caller = caller;
            this.query = query;
            this.source = source;
            this.hub = source.hub().on(loop);
            this.then = then;
            this.whenOver = whenOver;
            this.limit = loop.schedule(this::tooLong, MOST_WAIT_SECONDS, TimeUnit.SECONDS);
        }

        void begin() {
            exchange.request().whenOver(this::over);
            permit();
        }

        private void permit() {
            source.permissions()
                    .check(
                            caller.principal(),
                            new Permission.Read(
                                    query.spec().range().etcdKey(),
                                    query.spec().range().etcdRangeEnd()))
                    .onSuccess(permitted -> {
                        permittedNanos = System.nanoTime();
                        await();
                    })
                    .onFailure(why -> {
                        over();
                        exchange.fail(why);
                    });
        }

        private void await() {
            if (!over) {
                withdraw =
                        hub.whenAt(caller.session().lastRevision(), query.spec().previous(), this::arrived);
            }
        }

        /** Checks the permission again if the wait was long. */
        private void arrived() {
            if (over) {
                return;
            }
            if (System.nanoTime() - permittedNanos < PERMITTED_NANOS) {
                over();
                then.run();
            } else {
                permit();
            }
        }

        private void tooLong() {
            if (!over) {
                over();
                exchange.refuse(new ProblemDetails(
                        503,
                        Status.Code.UNAVAILABLE,
                        "understudy: the replica has not reached revision "
                                + caller.session().lastRevision() + "; retry"));
            }
        }

        private void over() {
            if (!over) {
                over = true;
                limit.cancel(false);
                if (withdraw != null) {
                    withdraw.run();
                }
                whenOver.run();
            }
        }
    }
}
