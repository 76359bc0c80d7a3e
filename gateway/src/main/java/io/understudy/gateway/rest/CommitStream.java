package io.understudy.gateway.rest;

import io.grpc.Status;
import io.netty.buffer.ByteBuf;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.hub.EventBatch;
import io.understudy.gateway.hub.LoopHub;
import io.understudy.gateway.hub.Watcher;
import io.understudy.gateway.hub.Watcher.WatchEvent;
import io.understudy.gateway.hub.Watcher.WatcherListener;
import io.understudy.gateway.permission.Rechecks;
import io.understudy.gateway.server.WebStream;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A stream of commits to one client. Confined to its connection's event loop.
 *
 * <p>Events start at once. Lines from a past revision start once that is known to be available, since such clients
 * learn by the status that it is not.
 *
 * <p>Invariant H2: each commit is delivered once, in order and whole; a resumed stream misses none or reports the gap.
 */
final class CommitStream implements WatcherListener, Rechecks.Listener {

    private final CommitStreams streams;
    private final RestExchange exchange;
    private final StreamQuery query;
    private final Caller caller;
    private @Nullable WebStream response;
    private @Nullable Watcher watcher;
    /** All commits up to this revision were delivered. */
    private long delivered;

    private Rechecks.@Nullable Permit permit;
    private boolean quiet;
    private boolean parked;
    /** Whether a large batch is being written. */
    private boolean writing;
    /** What is to be done after that; null for nothing. */
    private @Nullable Runnable afterwards;

    private boolean over;

    CommitStream(CommitStreams streams, RestExchange exchange, StreamQuery query, Caller caller) {
        this.streams = streams;
        this.exchange = exchange;
        this.query = query;
        this.caller = caller;
    }

    /** Starts the watcher, once a revision is known. */
    void begin() {
        LoopHub hub = streams.hub();
        long start = query.spec().startRevision();
        long now = hub.revision(query.spec().previous());
        delivered = start == 0 ? now : start - 1;
        watcher = hub.add(query.spec(), this);
        recheck();
        exchange.whenGone(this::close);
        if (query.form() == StreamForm.EVENTS || delivered >= now) {
            head();
        }
    }

    /** Whether it is still unknown if its start is available. */
    boolean undecided() {
        return response == null && !over;
    }

    /** Sends the head if the watcher is synced and had nothing to deliver. */
    void decide() {
        if (undecided() && watcher().isSynced()) {
            head();
        }
    }

    @Override
    public boolean ready() {
        WebStream out = response;
        parked = writing || (permit != null && permit.isInDoubt());
        if (!parked && out != null && !out.ready()) {
            parked = true;
            out.whenReady(this::resume);
        }
        return !parked;
    }

    /** Starts rechecks, if permissions are enforced now. */
    void recheck() {
        if (permit == null) {
            permit = streams.recheck(caller.principal(), query.spec().range(), this);
        }
    }

    @Override
    public void settled() {
        resume();
    }

    /** A reconnecting client receives the reason. */
    @Override
    public void revoked(ApiException why) {
        if (response == null) {
            close();
            exchange.fail(why);
        } else {
            end();
        }
    }

    @Override
    public void events(EventBatch batch) {
        if (response == null) {
            head();
        }
        List<WatchEvent> events = batch.events();
        delivered = events.get(events.size() - 1).entry().modRevision();
        caller.session().answered(delivered);
        if (over || response == null) {
            return;
        }
        if (batch.isStreamed()) {
            writing = true;
            quiet = false;
            response.write(streams.text(query.form()).streamed(batch), this::written);
        } else {
            write(streams.textOf(batch, query.form()));
        }
    }

    private void written() {
        writing = false;
        Runnable next = afterwards;
        afterwards = null;
        if (next != null) {
            next.run();
        }
        resume();
    }

    @Override
    public void failed(Throwable why) {
        end();
    }

    @Override
    public void unreadable(String why) {
        // Live watchers without previous entries have reached the newest revision.
        long now = Math.max(streams.hub().revision(false), streams.hub().revision(true));
        cut(
                now + 1,
                now,
                "understudy: " + why,
                new ProblemDetails(409, Status.Code.FAILED_PRECONDITION, "understudy: " + why));
    }

    @Override
    public void compacted(long compactRevision) {
        // After a move of the primary the hub has no revision yet.
        long now = Math.max(compactRevision - 1, streams.hub().revision());
        cut(
                compactRevision,
                now,
                null,
                new ProblemDetails(
                        410,
                        Status.Code.OUT_OF_RANGE,
                        "etcdserver: mvcc: required revision has been compacted; the oldest is " + compactRevision));
    }

    /** Ends the stream with the reason. */
    private void cut(long compactRevision, long revision, @Nullable String reason, ProblemDetails problem) {
        if (writing) {
            afterwards = () -> cut(compactRevision, revision, reason, problem);
        } else if (response == null) {
            close();
            exchange.refuse(problem);
        } else {
            write(streams.text(query.form()).gap(compactRevision, revision, reason));
            end();
        }
    }

    /** Sends a quiet client its resume revision, as a heartbeat. */
    void tick() {
        if (quiet && !writing && response != null && response.ready()) {
            writeProgress();
        }
        quiet = true;
    }

    /** Ends the response, so that the client reconnects. */
    void end() {
        if (!over) {
            close();
            if (response == null) {
                exchange.refuse(new ProblemDetails(503, Status.Code.UNAVAILABLE, "etcdserver: server stopped"));
            } else if (writing) {
                // A commit that was written in part is not to be taken for a whole one.
                response.abort();
            } else {
                response.end();
            }
        }
    }

    private void close() {
        if (!over) {
            over = true;
            watcher().cancel();
            if (permit != null) {
                permit.end();
            }
            streams.closed(this);
        }
    }

    private void head() {
        exchange.setHeader(
                "understudy-heartbeat-ms",
                Long.toString(streams.heartbeatInterval().toMillis()));
        response = exchange.stream(query.form().contentType());
        if (response == null) {
            close();
        } else {
            // A client that is disconnected before the first commit can resume.
            writeProgress();
        }
    }

    private void resume() {
        if (parked && !over) {
            parked = false;
            watcher().resume();
        }
    }

    private void writeProgress() {
        if (watcher().isSynced()) {
            delivered = Math.max(delivered, streams.hub().revision(query.spec().previous()));
        }
        // A future revision is not known to the replica: reads of the connection would wait for it.
        caller.session()
                .answered(
                        Math.min(delivered, streams.hub().revision(query.spec().previous())));
        write(streams.text(query.form()).progress(delivered));
    }

    private void write(ByteBuf text) {
        quiet = false;
        if (response != null) {
            response.write(text);
        }
    }

    private Watcher watcher() {
        return Objects.requireNonNull(watcher);
    }
}
