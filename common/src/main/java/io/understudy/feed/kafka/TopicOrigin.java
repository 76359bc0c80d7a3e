package io.understudy.feed.kafka;

/**
 * What holds for all that a mirror writes.
 *
 * @param generation greater each time the topics are restarted, with all of the state written again; records of an
 *     earlier one are void. 0 for those of versions without generations
 * @param scope of the mirror: the topics contain no other keys
 * @param partitions of the change topic that the mirror writes to
 * @param format of values
 */
public record TopicOrigin(long generation, TopicScope scope, int partitions, ValueFormat format) {

    /** An origin with etcd's values. */
    public TopicOrigin(long generation, TopicScope scope, int partitions) {
        this(generation, scope, partitions, ValueFormat.RAW);
    }
}
