package io.understudy.gateway.read;

/** What the replica lacks for an answer. */
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
