package io.understudy.feed.kafka;

import io.understudy.vocabulary.Position;
import org.jspecify.annotations.Nullable;

/**
 * Where a feed ended with a gap. The next snapshot is at its revision or later: the state topic, copied by MirrorMaker,
 * may be behind the change topic.
 *
 * @param generation of the topic's marks at the position, see {@link TopicOrigin}; null if none was read
 */
record LastGap(Position position, @Nullable Long generation) {

    /** Whether a state is from before the gap. A later generation may be of another history, with lower revisions. */
    boolean isAfter(StateTable state) {
        return position.cluster().equals(state.cluster())
                && position.revision().isAfter(state.revision())
                && (generation == null || generation >= state.chain().generation());
    }
}
