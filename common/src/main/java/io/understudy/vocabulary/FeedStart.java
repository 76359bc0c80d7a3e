package io.understudy.vocabulary;

import java.util.List;

/** Start of a feed: after a position, or within a snapshot. */
public sealed interface FeedStart permits Position, FeedStart.UnfinishedSnapshot {

    /**
     * A snapshot of which a consumer holds a part.
     *
     * @param pin the snapshot's revision; its anchor proves that the rest comes from the same history
     * @param rest ranges that the consumer does not hold, disjoint and in key order
     */
    record UnfinishedSnapshot(Position pin, List<KeyRange> rest) implements FeedStart {

        public UnfinishedSnapshot {
            rest = List.copyOf(rest);
            if (pin.anchor() == null) {
                throw new IllegalArgumentException("no anchor to verify the history of " + pin);
            }
        }
    }
}
