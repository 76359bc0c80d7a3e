package io.understudy.gateway.read;

/** Data that the replica lacks for a response. */
enum Missing {
    /** No state is loaded. */
    STATE,
    /** The keys are outside of its range. */
    KEYS,
    /** Its revision is too old. */
    PRESENT,
    /** The requested revision is no longer retained. */
    PAST
}
