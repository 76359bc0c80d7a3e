package io.understudy.mirror.kafka;

import io.understudy.mirror.sink.SinkException;
import java.util.List;
import java.util.Map;
import java.util.StringJoiner;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.Uuid;
import org.jspecify.annotations.Nullable;

/**
 * Offsets of one writer's records. Offsets of a partition only grow; otherwise the topic was truncated or recreated
 * while the mirror ran, as brokers may do by themselves. Thread-safe.
 */
final class Offsets {

    private final Map<String, Uuid> ids = new TreeMap<>();
    private final Map<String, long[]> last = new TreeMap<>();
    private final String stateTopic;
    private @Nullable Exception fault;

    /** Offset of the next record in the state topic, without other writers; -1 if unknown. */
    private long nextOfState;
    /** Start of the state topic's range with possible foreign records; -1 for none. */
    private long uncheckedFrom;
    /** End of that range. */
    private long uncheckedTo;
    /** Whether the open transaction has records in the state topic. */
    private boolean isStateOpen;

    /**
     * Creates the offsets of partitions with known records.
     *
     * @param endOfState offset up to which the state topic was read; -1 if it was not
     * @param uncheckedFrom see {@link #uncheckedFrom()}
     */
    Offsets(Footprint known, String stateTopic, long endOfState, long uncheckedFrom) {
        this.stateTopic = stateTopic;
        this.nextOfState = endOfState;
        this.uncheckedFrom = uncheckedFrom;
        this.uncheckedTo = endOfState;
        known.topics().forEach((name, topic) -> {
            ids.put(name, topic.id());
            last.put(name, topic.offsets().stream().mapToLong(Long::longValue).toArray());
        });
    }

    /** Records an acknowledgement, without an offset if the broker dropped the result of a duplicate. */
    synchronized void acknowledged(RecordMetadata record) {
        if (record.topic().equals(stateTopic)) {
            acknowledgedInState(record);
        }
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

    private void acknowledgedInState(RecordMetadata record) {
        isStateOpen = true;
        boolean isForeign = nextOfState >= 0 && (!record.hasOffset() || record.offset() > nextOfState);
        if (isForeign) {
            // The offset before may be the end of a transaction, or a foreign record ahead of it.
            uncheckedFrom = uncheckedFrom < 0 ? Math.max(0, nextOfState - 1) : uncheckedFrom;
            uncheckedTo = Math.max(nextOfState, record.offset());
        }
        nextOfState = record.hasOffset() ? record.offset() + 1 : -1;
    }

    /** Records a commit of acknowledged records, which takes one offset of each partition. */
    synchronized void committed() {
        if (isStateOpen && nextOfState >= 0) {
            nextOfState++;
        }
        isStateOpen = false;
    }

    /** Returns the first offset of possible foreign records in the state topic; -1 for none. */
    synchronized long uncheckedFrom() {
        return uncheckedFrom;
    }

    /** Records that the state topic was checked up to {@code end}, outside a transaction. */
    synchronized void checked(long end) {
        uncheckedFrom = end < uncheckedTo ? end : -1;
        nextOfState = Math.max(nextOfState, end);
    }

    /** Returns the offset after the last transaction in the state topic; -1 if unknown. */
    synchronized long endOfState() {
        return nextOfState;
    }

    /** Records a failed send. */
    synchronized void failed(Exception why) {
        if (fault == null) {
            fault = why;
        }
    }

    /** Returns the first failure; null for none. */
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

    /**
     * The topics that a mirror has written to, and minimum offsets. Stored beside each checkpoint, so that topics deleted,
     * recreated or truncated since are recognised.
     *
     * <p>As text, {@code name=id:offset,offset;name=id:offset}.
     *
     * <p>Invariant M28: a topic that was deleted, recreated or truncated is detected before anything more is written.
     *
     * @param topics by name
     */
    record Footprint(Map<String, Topic> topics) {

        Footprint {
            topics = Map.copyOf(topics);
        }

        /**
         * A topic and its last offsets.
         *
         * @param id Kafka's topic ID, unique per created topic
         * @param offsets of the last record known to be in each partition; -1 for none
         */
        record Topic(Uuid id, List<Long> offsets) {
            Topic {
                offsets = List.copyOf(offsets);
            }
        }

        static Footprint parse(String text) {
            Map<String, Topic> topics = new TreeMap<>();
            for (String part : text.split(";", -1)) {
                String[] nameAndRest = part.split("[=:]", -1);
                if (nameAndRest.length != 3) {
                    throw new IllegalArgumentException("\"" + part + "\" is not a topic with ID and offsets");
                }
                List<Long> offsets = Stream.of(nameAndRest[2].split(",", -1))
                        .map(Long::valueOf)
                        .toList();
                topics.put(nameAndRest[0], new Topic(Uuid.fromString(nameAndRest[1]), offsets));
            }
            return new Footprint(topics);
        }

        @Override
        public String toString() {
            StringJoiner text = new StringJoiner(";");
            new TreeMap<>(topics)
                    .forEach((name, topic) -> text.add(name + "=" + topic.id() + ":"
                            + topic.offsets().stream()
                                    .map(offset -> Long.toString(offset))
                                    .collect(Collectors.joining(","))));
            return text.toString();
        }
    }
}
