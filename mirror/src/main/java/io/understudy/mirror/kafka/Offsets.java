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
 * truncated, or recreated while the mirror ran, as brokers may do by themselves. Thread-safe.
 */
final class Offsets {

    private final Map<String, Uuid> ids = new TreeMap<>();
    private final Map<String, long[]> last = new TreeMap<>();
    private final String stateTopic;
    private @Nullable Exception fault;

    /** Of the next record in the state topic, if no other writer adds any; -1 if not known. */
    private long nextOfState;
    /** Where the state topic may have records of other writers, after the last of this one; -1 for nowhere. */
    private long uncheckedFrom;
    /** Where that range ends. */
    private long uncheckedTo;
    /** Whether the open transaction has records in the state topic. */
    private boolean isStateOpen;

    /**
     * Of partitions known to have records up to there.
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

    /** A record was acknowledged; without its offset, if it was sent twice and the broker has forgotten the first. */
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

    /** The transaction of the acknowledged records was committed: its end takes one offset of each partition. */
    synchronized void committed() {
        if (isStateOpen && nextOfState >= 0) {
            nextOfState++;
        }
        isStateOpen = false;
    }

    /** Offset from which the state topic may have records of other writers that were not checked; -1 for none. */
    synchronized long uncheckedFrom() {
        return uncheckedFrom;
    }

    /** The state topic was checked from there up to the offset {@code end}, outside a transaction. */
    synchronized void checked(long end) {
        uncheckedFrom = end < uncheckedTo ? end : -1;
        nextOfState = Math.max(nextOfState, end);
    }

    /** Offset after the last transaction in the state topic, as far as it is known; -1 if it is not. */
    synchronized long endOfState() {
        return nextOfState;
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
