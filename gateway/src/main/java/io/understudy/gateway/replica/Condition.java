package io.understudy.gateway.replica;

/** How a replica is. Whoever needs its state asks for that; this tells why there is none. */
public sealed interface Condition {

    /** The first snapshot is on its way; no state. */
    record Loading() implements Condition {}

    /** There is a state, and it is kept up. */
    record Ready() implements Condition {}

    /**
     * It was given up, and its memory freed: no state. Commits are followed without being applied, until it is built anew.
     *
     * @param reason for people
     */
    record Dropped(String reason) implements Condition {}
}
