package io.understudy.gateway.replica;

import io.understudy.vocabulary.Revision;
import java.time.Instant;

/** Receives changes of the replica and its log, on the writing thread, after they are applied. */
@FunctionalInterface
public interface ReplicaListener {

    /** There is a new state. */
    void published(ReplicaState state);

    /** The feed has come to that revision while there is no state. */
    default void advanced(Revision revision) {}

    /** The source had nothing beyond the revision, which the feed has come to, when it was {@code time} elsewhere. */
    default void asOf(Revision revision, Instant time) {}

    /** Revisions begin again, below some that clients have seen: those of another cluster follow, after this one. */
    default void restarted(Revision revision) {}

    /** There is no state any more. */
    default void dropped(Condition.Dropped why) {}
}
