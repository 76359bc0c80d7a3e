package io.understudy.gateway.caller;

import java.util.function.BooleanSupplier;

/**
 * What comes with a request.
 *
 * @param deadlineNanos by {@link System#nanoTime} when the client gives up; {@link Long#MAX_VALUE} if it told none
 * @param gone whether nobody waits for the answer any more; asked on the session's event loop
 */
public record Caller(
        Principal principal, Session session, Freshness freshness, long deadlineNanos, BooleanSupplier gone) {

    /** It told no deadline. */
    public static final long NO_DEADLINE = Long.MAX_VALUE;
}
