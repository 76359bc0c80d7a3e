package io.understudy.gateway.replica;

/** The condition of a replica, with the reason if it has no state. */
public sealed interface Condition {

    /** The first snapshot is being loaded; no state. */
    record Loading() implements Condition {}

    /** There is a state, and it follows the source. */
    record Ready() implements Condition {}

    /**
     * The state was dropped and its memory freed. Commits are followed without being applied until a rebuild.
     *
     * @param reason for operators
     */
    record Dropped(String reason) implements Condition {}
}
