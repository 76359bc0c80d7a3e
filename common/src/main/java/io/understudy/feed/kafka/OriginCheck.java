package io.understudy.feed.kafka;

import io.understudy.consumer.format.HoleException;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * Rejects topics that lack keys: those outside the mirror's scope would count as missing.
 *
 * <p>Invariant FK6: keys outside the mirror's scope and partitions without its records are rejected, not read as
 * missing.
 *
 * @param used parts of the feed's range that its consumer uses
 */
record OriginCheck(List<KeyRange> used) {

    /** Checks a mark before its changes are delivered. */
    void check(ConsumerRecord<byte[], byte[]> mark) throws MalformedRecordException, Unexplained {
        TopicOrigin origin = RecordFormat.origin(mark);
        if (origin == null) {
            return;
        }
        for (KeyRange range : used) {
            if (!origin.scope().covers(range)) {
                throw new Unexplained(
                        "topic " + mark.topic() + " contains only keys with the prefixes its mirror copies: "
                                + origin.scope() + "; requested: " + TopicScope.shown(range)
                                + ". Reduce the requested range, or extend the mirror's scope and mirror to topics"
                                + " of another name");
            }
        }
    }

    /**
     * The same for the change topic, of which the mirror must write to each partition.
     *
     * @param generation of the state that was read; null if unknown
     * @throws HoleException another generation may have another number of partitions; the state shows which is the last
     */
    void check(ConsumerRecord<byte[], byte[]> mark, int partitions, @Nullable Long generation)
            throws MalformedRecordException, Unexplained, HoleException {
        check(mark);
        TopicOrigin origin = RecordFormat.origin(mark);
        if (origin == null || origin.partitions() == partitions) {
            return;
        }
        if (generation == null) {
            throw new HoleException("topic has " + partitions + " partitions, but its mirror wrote "
                    + origin.partitions() + " in generation " + origin.generation());
        }
        if (generation == origin.generation()) {
            throw new Unexplained("topic " + mark.topic() + " has " + partitions + " partitions, but its mirror"
                    + " writes " + origin.partitions() + ": partitions from " + mark.topic() + "-"
                    + Math.min(origin.partitions(), partitions) + " on were "
                    + (origin.partitions() < partitions ? "added" : "removed")
                    + ". Mirror to another topic");
        }
    }
}
