package io.understudy.gateway.caller;

/**
 * What comes with a request.
 *
 * @param deadlineNanos by {@link System#nanoTime} when the client gives up; {@link Long#MAX_VALUE} if it told none
 */
public record Caller(Principal principal, Session session, Freshness freshness, long deadlineNanos) {

    /** It told no deadline. */
    public static final long NO_DEADLINE = Long.MAX_VALUE;
}
