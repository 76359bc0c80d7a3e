package io.understudy.mirror.kafka;

import io.understudy.mirror.sink.SinkException;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * Where the records of one writer came to be. Offsets of a partition only grow; one that doesn't is of a topic that was
 * created anew while the mirror ran, as brokers do of their own accord, or truncated. Thread-safe.
 */
final class Offsets {

    private final Map<String, Uuid> ids = new TreeMap<>();
    private final Map<String, long[]> last = new TreeMap<>();
    private @Nullable Exception fault;

    /** Of partitions known to have records up to there. */
    Offsets(Footprint known) {
        known.topics().forEach((name, topic) -> {
            ids.put(name, topic.id());
            last.put(name, topic.offsets().stream().mapToLong(Long::longValue).toArray());
        });
    }

    /** A record was acknowledged; without its offset, if it was sent twice and the broker no longer knows that. */
    synchronized void acknowledged(RecordMetadata record) {
        if (!record.hasOffset()) {
            return;
        }
        long[] offsets = at(record.topic());
        long offset = record.offset();
        long before = offsets[record.partition()];
        if (offset > before) {
            offsets[record.partition()] = offset;
        } else if (fault == null) {
            fault = new SinkException.Unavailable(
                    "partition " + record.topic() + "-" + record.partition() + " returned offset " + offset + " after "
                            + before + ": the topic was recreated or truncated",
                    null);
        }
    }

    /** A record was not taken. */
    synchronized void failed(Exception why) {
        if (fault == null) {
            fault = why;
        }
    }

    /** The first there was. */
    synchronized @Nullable Exception fault() {
        return fault;
    }

    synchronized Footprint footprint() {
        Map<String, Footprint.Topic> topics = new TreeMap<>();
        ids.forEach((name, id) -> topics.put(
                name, new Footprint.Topic(id, LongStream.of(at(name)).boxed().toList())));
        return new Footprint(topics);
    }

    private long[] at(String topic) {
        long[] offsets = last.get(topic);
        if (offsets == null) {
            throw new IllegalArgumentException("topic " + topic + " does not belong to this mirror");
        }
        return offsets;
    }
}
