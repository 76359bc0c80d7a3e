package io.understudy.gateway.replica;

import io.understudy.gateway.replica.Replica.Condition;
import io.understudy.vocabulary.Revision;
import java.time.Instant;

/** Receives applied changes of the replica and its log, on the writing thread. */
@FunctionalInterface
public interface ReplicaListener {

    /** There is a new state. */
    void published(ReplicaState state);

    /** The feed has reached that revision without a state. */
    default void advanced(Revision revision) {}

    /** The source had no commit beyond the revision, which the feed has reached, at {@code time}. */
    default void asOf(Revision revision, Instant time) {}

    /** Another cluster follows, and revisions restart below some that clients have seen. */
    default void restarted(Revision revision) {}

    /** So many slowly read responses were ended, since they kept old versions. Called on any thread. */
    default void ended(int responses) {}

    /** The state was dropped. */
    default void dropped(Condition.Dropped why) {}
}
