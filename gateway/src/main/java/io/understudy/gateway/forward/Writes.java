package io.understudy.gateway.forward;

/**
 * What becomes of requests that change something.
 *
 * <p>Invariant W4: by default, no write is forwarded.
 */
public enum Writes {
    /** They are refused, as a learner refuses them. */
    REFUSE,
    /** They are passed on to a voter. */
    FORWARD
}
