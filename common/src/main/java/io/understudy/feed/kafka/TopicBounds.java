package io.understudy.feed.kafka;

import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;

/**
 * The offsets of a partition for readers of committed records.
 *
 * @param beginning first offset
 * @param end offset after the last transaction that is over
 */
record TopicBounds(long beginning, long end) {

    static KafkaFuture<Map<TopicPartition, TopicBounds>> request(Admin admin, Collection<TopicPartition> partitions) {
        ListOffsetsOptions committed = new ListOffsetsOptions(IsolationLevel.READ_COMMITTED);
        var beginnings = admin.listOffsets(all(partitions, OffsetSpec.earliest()), committed)
                .all();
        var ends = admin.listOffsets(all(partitions, OffsetSpec.latest()), committed)
                .all();
        return KafkaFuture.allOf(beginnings, ends).thenApply(both -> between(now(beginnings), now(ends)));
    }

    /** The result of a completed future. */
    private static <T> T now(KafkaFuture<T> answered) {
        try {
            return answered.get();
        } catch (InterruptedException | ExecutionException e) {
            throw new KafkaException(e);
        }
    }

    private static Map<TopicPartition, OffsetSpec> all(Collection<TopicPartition> partitions, OffsetSpec spec) {
        return partitions.stream().collect(Collectors.toMap(partition -> partition, partition -> spec));
    }

    private static Map<TopicPartition, TopicBounds> between(
            Map<TopicPartition, ListOffsetsResultInfo> beginnings, Map<TopicPartition, ListOffsetsResultInfo> ends) {
        Map<TopicPartition, TopicBounds> bounds = new HashMap<>();
        ends.forEach((partition, end) -> {
            ListOffsetsResultInfo beginning = beginnings.get(partition);
            if (beginning == null) {
                throw new IllegalStateException(
                        "Kafka returned the end offset of " + partition + " but not its beginning");
            }
            bounds.put(partition, new TopicBounds(beginning.offset(), end.offset()));
        });
        return bounds;
    }
}
