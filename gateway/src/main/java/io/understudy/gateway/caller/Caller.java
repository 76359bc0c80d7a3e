package io.understudy.gateway.caller;

import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * What comes with a request.
 *
 * @param deadlineNanos by {@link System#nanoTime} when the client gives up; {@link Long#MAX_VALUE} if it told none
 * @param gone whether nobody waits for the answer any more; asked on the session's event loop
 * @param whenOver given what is to be run, on the session's event loop, once the client has taken the answer, or doesn't
 *     wait for it any more; runs it at once if that is so already
 */
public record Caller(
        Principal principal,
        Session session,
        Freshness freshness,
        long deadlineNanos,
        BooleanSupplier gone,
        Consumer<Runnable> whenOver) {

    /** It told no deadline. */
    public static final long NO_DEADLINE = Long.MAX_VALUE;
}
