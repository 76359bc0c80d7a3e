package io.understudy.gateway.read;

/** Why the replica has no answer. */
enum Missing {
    /** There is no replica, or not yet. */
    STATE,
    /** It doesn't hold the keys. */
    KEYS,
    /** It hasn't come as far as the answer has to be. */
    PRESENT,
    /** It has forgotten the revision that was asked for. */
    PAST
}
