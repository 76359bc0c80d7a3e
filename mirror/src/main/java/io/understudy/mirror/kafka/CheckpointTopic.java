package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.consumer.format.MalformedRecordException;
import io.understudy.consumer.format.MirrorRecord;
import io.understudy.consumer.format.StateDigest;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.feed.kafka.ValueFormat;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.kafka.Offsets.Footprint;
import io.understudy.mirror.sink.SinkException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** The compacted topic of a mirror's checkpoint, which is the last record under its name. */
final class CheckpointTopic {

    /** Header with the {@link Footprint}. */
    private static final String TOPICS = "understudy.topics";
    /** Header with the generation, as in other records. */
    private static final String GENERATION = "understudy.generation";

    /** Header with the {@link StateDigest} of the state topic; absent if unknown. */
    private static final String STATE = "understudy.state";
    /** Header with {@link Offsets#uncheckedFrom}; absent for none. */
    private static final String UNCHECKED = "understudy.unchecked-from";

    /** Header with the {@code transactional.id} of the writer; absent for the default. */
    private static final String TRANSACTIONAL_ID = "understudy.transactional-id";
    /** Header with the {@link ValueFormat}, as in other records; absent for {@link ValueFormat#RAW}. */
    private static final String FORMAT = "understudy.format";

    private final String topic;
    private final byte[] key;
    private final String where;
    private final StrayRecords strays;

    CheckpointTopic(String topic, String mirror, StrayRecords strays) {
        this.strays = strays;
        this.topic = topic;
        this.key = mirror.getBytes(StandardCharsets.UTF_8);
        this.where = "key \"" + mirror + "\" of topic " + topic;
    }

    /** Returns the checkpoint's place, for messages. */
    String where() {
        return where;
    }

    /**
     * A checkpoint and its topics.
     *
     * @param generation generation of the topics, see {@link io.understudy.feed.kafka.TopicOrigin}
     * @param state digest of the state topic; null if unknown
     * @param uncheckedFrom see {@link Offsets#uncheckedFrom}
     * @param transactionalId ID of the writer; null for the default
     * @param format number of the topics' {@link ValueFormat}
     */
    record Stored(
            Checkpoint checkpoint,
            Footprint footprint,
            long generation,
            @Nullable StateDigest state,
            long uncheckedFrom,
            @Nullable String transactionalId,
            String format) {

        /** Returns the same with another writer. */
        Stored handedTo(String other) {
            return new Stored(checkpoint, footprint, generation, state, uncheckedFrom, other, format);
        }
    }

    /**
     * Returns the last committed checkpoint; null if there is none.
     *
     * @throws SinkException.Refused it is another mirror's, or invalid
     */
    @Nullable Stored read(TopicReader reader) {
        AtomicReference<@Nullable ConsumerRecord<byte[], byte[]>> last = new AtomicReference<>();
        var unused = reader.read(new TopicPartition(topic, 0), 0, record -> {
            if (isStray(record)) {
                strays.skipped(record, "neither a checkpoint nor a header " + TOPICS);
            } else {
                last.set(record);
            }
        });
        ConsumerRecord<byte[], byte[]> found = last.get();
        if (found == null) {
            return null;
        }
        if (!Arrays.equals(found.key(), key)) {
            throw new SinkException.Refused("topic " + topic + " has no checkpoint at " + where + ", but one of another"
                    + " mirror at key \""
                    + (found.key() == null ? "" : new String(found.key(), StandardCharsets.UTF_8))
                    + "\". Mirror to another topic");
        }
        try {
            return new Stored(
                    CheckpointCodec.decode(where, ByteString.copyFrom(found.value())),
                    footprint(found),
                    MirrorRecord.generation(found),
                    MirrorRecord.state(found),
                    uncheckedFrom(found),
                    text(found, TRANSACTIONAL_ID),
                    Objects.requireNonNullElse(text(found, FORMAT), ValueFormat.RAW.number()));
        } catch (CorruptCheckpointException | MalformedRecordException e) {
            throw new SinkException.Refused(String.valueOf(e.getMessage()), e);
        }
    }

    /** Whether the record is not a checkpoint: a mirror's, in any format, has this header. */
    private boolean isStray(ConsumerRecord<byte[], byte[]> record) {
        if (record.value() == null) {
            return true;
        }
        try {
            return record.headers().lastHeader(TOPICS) == null
                    && CheckpointCodec.decode(where, ByteString.copyFrom(record.value())) == null;
        } catch (CorruptCheckpointException e) {
            return true;
        }
    }

    private static @Nullable String text(ConsumerRecord<byte[], byte[]> record, String name) {
        Header header = record.headers().lastHeader(name);
        return header == null ? null : new String(header.value(), StandardCharsets.UTF_8);
    }

    private long uncheckedFrom(ConsumerRecord<byte[], byte[]> record) {
        Header header = record.headers().lastHeader(UNCHECKED);
        String text = header == null ? "-1" : new String(header.value(), StandardCharsets.US_ASCII);
        try {
            return Long.parseLong(text);
        } catch (NumberFormatException e) {
            throw new SinkException.Refused(
                    "checkpoint at " + where + " has header " + UNCHECKED + "=" + text + "; an offset is required", e);
        }
    }

    private Footprint footprint(ConsumerRecord<byte[], byte[]> record) {
        Header header = record.headers().lastHeader(TOPICS);
        if (header == null) {
            throw new SinkException.Refused("checkpoint at " + where + " does not name its topics: it was written by"
                    + " an earlier version in another format. Mirror to another topic, or delete this topic and its"
                    + " checkpoint topic");
        }
        String text = new String(header.value(), StandardCharsets.US_ASCII);
        try {
            return Footprint.parse(text);
        } catch (IllegalArgumentException e) {
            throw new SinkException.Refused(
                    "checkpoint at " + where + " has header " + TOPICS + "=" + text + ": " + e.getMessage(), e);
        }
    }

    ProducerRecord<byte[], byte[]> record(Stored stored) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic, 0, key, CheckpointCodec.encode(stored.checkpoint()).toByteArray());
        add(record, TOPICS, stored.footprint());
        add(record, GENERATION, stored.generation());
        add(record, FORMAT, stored.format());
        String id = stored.transactionalId();
        if (id != null) {
            add(record, TRANSACTIONAL_ID, id);
        }
        StateDigest state = stored.state();
        if (state != null) {
            add(record, STATE, state);
        }
        if (stored.uncheckedFrom() >= 0) {
            add(record, UNCHECKED, stored.uncheckedFrom());
        }
        return record;
    }

    private static void add(ProducerRecord<byte[], byte[]> record, String name, Object value) {
        record.headers().add(name, value.toString().getBytes(StandardCharsets.UTF_8));
    }
}
