package io.understudy.feed.etcd;

import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;

/** An event of a tail. */
sealed interface TailEvent {

    /**
     * The member is the right one: same cluster, same history. First of all events, once.
     *
     * @param position where the tail continues, its anchor verified, or found now
     * @param head the member's revision when the watch was created
     */
    record Opened(Position position, Revision head) implements TailEvent {}

    /**
     * The next commit, and the position at it.
     *
     * @param previous previous values of its keys, if requested
     */
    record Committed(Commit commit, List<KeyValue> previous, Position position) implements TailEvent {}

    /** Complete up to the position's revision. */
    record Marked(Position position) implements TailEvent {}
}
