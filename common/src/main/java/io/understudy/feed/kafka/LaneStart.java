package io.understudy.feed.kafka;

import io.understudy.vocabulary.Revision;

/**
 * Where a partition is read from.
 *
 * @param offset of the first record to read
 * @param complete what the mark before it says, which the next one must name
 * @param markMillis when that was written, by its writer's clock
 */
record LaneStart(long offset, Revision complete, long markMillis) {

    /** Of a partition whose records up to {@code complete} are gone: its next mark has to show that nothing else is. */
    static LaneStart atBeginning(long offset, Revision complete) {
        return new LaneStart(offset, complete, Long.MIN_VALUE);
    }
}
