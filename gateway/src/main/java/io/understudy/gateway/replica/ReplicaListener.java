package io.understudy.gateway.replica;

import io.understudy.vocabulary.Revision;
import java.time.Instant;

/** Receives changes of the replica and its log, on the writing thread, after they are applied. */
@FunctionalInterface
public interface ReplicaListener {

    /** There is a new state. */
    void published(ReplicaState state);

    /** The feed has reached that revision without a state. */
    default void advanced(Revision revision) {}

    /** The source had no commit beyond the revision, which the feed has reached, at {@code time}. */
    default void asOf(Revision revision, Instant time) {}

    /** Revisions begin again below some that clients have seen, as another cluster follows after this one. */
    default void restarted(Revision revision) {}

    /** The state was dropped. */
    default void dropped(Condition.Dropped why) {}
}
