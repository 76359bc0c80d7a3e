package io.understudy.feed.kafka;

import io.understudy.feed.FeedEndedException.Unexplained;
import io.understudy.vocabulary.KeyRange;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Refuses topics that do not tell all that is to be read of them: keys beyond the mirror's scope would be taken for keys that
 * don't exist.
 *
 * @param used what of the feed's range its consumer has a use for
 */
record OriginCheck(List<KeyRange> used) {

    /** Looks at a mark, before anything that it completes is given. */
    void check(ConsumerRecord<byte[], byte[]> mark) throws MalformedRecordException, Unexplained {
        TopicOrigin origin = RecordFormat.origin(mark);
        if (origin == null) {
            return;
        }
        for (KeyRange range : used) {
            if (!origin.scope().covers(range)) {
                throw new Unexplained("the topic " + mark.topic() + " tells only of keys with these prefixes: "
                        + origin.scope() + ", which is what its mirror copies; but " + TopicScope.shown(range)
                        + " are to be read. Read no more than the mirror copies, or have it copy more, to topics of"
                        + " another name");
            }
        }
    }

    /** The same for the change topic, of which the mirror must write to each partition. */
    void check(ConsumerRecord<byte[], byte[]> mark, int partitions) throws MalformedRecordException, Unexplained {
        check(mark);
        TopicOrigin origin = RecordFormat.origin(mark);
        if (origin != null && origin.partitions() != partitions) {
            throw new Unexplained(
                    "the topic " + mark.topic() + " has " + partitions + " partitions, of which its mirror"
                            + " writes " + origin.partitions() + ": partition " + mark.topic() + "-"
                            + Math.min(origin.partitions(), partitions) + " and those after it were "
                            + (origin.partitions() < partitions ? "added since" : "taken away")
                            + ". Mirror to another topic");
        }
    }
}
