package io.understudy.feed.etcd;

import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.KeyValue;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;

/** What a tail tells. */
sealed interface TailEvent {

    /**
     * The member is the right one: same cluster, same history. First of all events, once.
     *
     * @param position where the tail goes on from, its anchor verified, or found now
     * @param head the member's revision when the watch was created
     */
    record Opened(Position position, Revision head) implements TailEvent {}

    /**
     * The next commit; the position stands at it.
     *
     * @param previous how those of its keys stood before that were there, if the tail was asked to tell
     */
    record Committed(Commit commit, List<KeyValue> previous, Position position) implements TailEvent {}

    /** Complete up to the position's revision. */
    record Marked(Position position) implements TailEvent {}
}
