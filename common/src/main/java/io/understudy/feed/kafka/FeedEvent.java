package io.understudy.feed.kafka;

import io.understudy.vocabulary.Commit;
import io.understudy.vocabulary.Position;
import java.time.Instant;

/** An event of the change topic. */
sealed interface FeedEvent {

    /** The next commit, and the position at it. */
    record Committed(Commit commit, Position position) implements FeedEvent {}

    /** Complete up to the position's revision. */
    record Marked(Position position) implements FeedEvent {}

    /** The source had nothing newer at that time, by the mirror's clock. */
    record Current(Instant asOf) implements FeedEvent {}
}
