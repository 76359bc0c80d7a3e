package io.understudy.gateway.forward;

/**
 * How write requests are handled.
 *
 * <p>Invariant W4: by default, no write is forwarded.
 */
public enum Writes {
    /** Rejected, as by a learner. */
    REFUSE,
    /** Forwarded to a voting member. */
    FORWARD
}
