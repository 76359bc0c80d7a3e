package io.understudy.gateway.caller;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * The context of a request.
 *
 * @param deadlineNanos by {@link System#nanoTime} when the client gives up; {@link Long#MAX_VALUE} for none
 * @param gone whether the client has disconnected; called on the session's event loop
 * @param whenOver registers a task for the session's event loop, run once the client has read the answer or
 *     disconnected, at once if it already has
 */
public record Caller(
        Principal principal,
        Session session,
        Freshness freshness,
        long deadlineNanos,
        BooleanSupplier gone,
        Consumer<Runnable> whenOver) {

    /** No deadline. */
    public static final long NO_DEADLINE = Long.MAX_VALUE;
}
