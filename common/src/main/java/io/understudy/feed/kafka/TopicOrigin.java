package io.understudy.feed.kafka;

/**
 * What holds of all that a mirror writes, and is told by its marks.
 *
 * @param scope of the mirror: of other keys the topics tell nothing
 * @param partitions of the change topic that the mirror writes to
 */
public record TopicOrigin(TopicScope scope, int partitions) {}
