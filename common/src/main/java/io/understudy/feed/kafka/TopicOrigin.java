package io.understudy.feed.kafka;

/**
 * What holds of all that a mirror writes.
 *
 * @param generation greater each time the topics are begun anew, all of the state being written again; records of an earlier
 *     one tell nothing any more. 0 for those of versions that told none
 * @param scope of the mirror: of other keys the topics tell nothing
 * @param partitions of the change topic that the mirror writes to
 * @param format of values
 */
public record TopicOrigin(long generation, TopicScope scope, int partitions, ValueFormat format) {

    /** With etcd's values. */
    public TopicOrigin(long generation, TopicScope scope, int partitions) {
        this(generation, scope, partitions, ValueFormat.RAW);
    }
}
