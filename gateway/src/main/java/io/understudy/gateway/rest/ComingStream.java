package io.understudy.gateway.rest;

import io.grpc.Status;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ScheduledFuture;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Caller;
import io.understudy.gateway.hub.LoopHub;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A request for a commit stream that waits for its permission check and its revision. Dropped if the client
 * disconnects. Confined to its connection's event loop.
 */
final class ComingStream {

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
        exchange.whenOver(this::over);
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
            withdraw = hub.whenAt(caller.session().lastRevision(), query.spec().previous(), this::arrived);
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
