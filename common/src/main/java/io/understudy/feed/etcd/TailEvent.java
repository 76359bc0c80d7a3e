package io.understudy.feed.etcd;

import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;

/** What a tail tells. */
sealed interface TailEvent {

    /**
     * The member is the right one: same cluster, same history. First of all events, once.
     *
     * @param position where the tail goes on from, its anchor verified, or found now
     * @param head the member's revision when the watch was created
     */
    record Opened(Position position, Revision head) implements TailEvent {}

    /** The next commit; the position stands at it. */
    record Committed(Commit commit, Position position) implements TailEvent {}

    /** Complete up to the position's revision. */
    record Marked(Position position) implements TailEvent {}
}
