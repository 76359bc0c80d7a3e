package io.understudy.gateway.rest;

import io.grpc.Status;
import io.netty.buffer.Unpooled;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.caller.ReadPermissions;
import io.understudy.gateway.dashboard.Dashboard;
import io.understudy.gateway.server.WebStream;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.internal.ContextInternal;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The dashboard's clients on one event loop. Confined to that loop unless stated otherwise.
 *
 * <p>Invariant D1b: a reconnecting client receives the samples that it missed.
 */
final class OverviewStreams {

    /** Each receives some kilobytes per second. */
    static final int MOST = 100;

    /** Number of samples between permission checks. */
    private static final int LOOKS_BETWEEN_CHECKS = 5;

    /** Errors that leave a permission undecided: unreachable source, or exceeded quota. */
    private static final Set<Status.Code> UNDECIDED =
            Set.of(Status.Code.UNAVAILABLE, Status.Code.RESOURCE_EXHAUSTED, Status.Code.DEADLINE_EXCEEDED);

    private final Context context = Objects.requireNonNull(ContextInternal.current(), "not on an event loop");
    private final Dashboard dashboard;
    private final ReadPermissions permissions;
    private final Set<Stream> open = new LinkedHashSet<>();
    /** Streams that are reading their history. */
    private int coming;

    private int looks;
    private boolean closed;

    OverviewStreams(Dashboard dashboard, ReadPermissions permissions) {
        this.dashboard = dashboard;
        this.permissions = permissions;
        dashboard.watch(moment -> context.runOnContext(now -> publish(moment)));
    }

    private record Stream(Principal principal, WebStream response) {}

    /**
     * Sends the history, then each sample.
     *
     * @param principal has just been permitted
     * @param afterMillis the samples up to then are known to the client
     */
    void open(RestExchange exchange, Principal principal, long afterMillis) {
        if (open.size() + coming >= MOST) {
            exchange.refuse(new ProblemDetails(
                    429,
                    Status.Code.RESOURCE_EXHAUSTED,
                    "understudy: too many dashboard streams; allowed: " + MOST + " per event loop"));
            return;
        }
        coming++;
        var unused = dashboard
                .history(afterMillis)
                .whenComplete((history, failure) -> context.runOnContext(now -> begin(exchange, principal, history)));
    }

    private void begin(RestExchange exchange, Principal principal, @Nullable Buffer history) {
        coming--;
        if (closed || history == null) {
            exchange.refuse(new ProblemDetails(503, Status.Code.UNAVAILABLE, "etcdserver: server stopped"));
            return;
        }
        WebStream response = exchange.stream(StreamForm.EVENTS.contentType());
        if (response != null) {
            Stream stream = new Stream(principal, response);
            open.add(stream);
            exchange.whenGone(() -> open.remove(stream));
            response.write(Unpooled.wrappedBuffer(history.getBytes()));
        }
    }

    private void publish(Dashboard.Moment moment) {
        looks++;
        for (Stream stream : List.copyOf(open)) {
            // A slow client skips to the next sample, which replaces this one.
            if (stream.response().ready()) {
                stream.response().write(Unpooled.wrappedBuffer(moment.event().getBytes()));
            }
            if (looks % LOOKS_BETWEEN_CHECKS == 0) {
                check(stream);
            }
        }
    }

    /** Keeps the stream while a permission is undecided: operators need it in an outage. */
    private void check(Stream stream) {
        var unused = permissions
                .check(stream.principal(), Permission.Standing.ROOT)
                .onFailure(why -> {
                    if (!(why instanceof ApiException refusal) || !UNDECIDED.contains(refusal.code())) {
                        end(stream);
                    }
                });
    }

    private void end(Stream stream) {
        if (open.remove(stream)) {
            stream.response().end();
        }
    }

    /** Ends all streams and starts no more. Thread-safe. */
    void close() {
        context.runOnContext(now -> {
            closed = true;
            List.copyOf(open).forEach(this::end);
        });
    }
}
