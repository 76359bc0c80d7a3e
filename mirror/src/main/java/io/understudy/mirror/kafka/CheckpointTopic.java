package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.feed.kafka.MalformedRecordException;
import io.understudy.feed.kafka.RecordFormat;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.sink.SinkException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** The compacted topic that holds a mirror's checkpoint as the last record of its key, the mirror's name. */
final class CheckpointTopic {

    /** Of the header with the {@link Footprint}. */
    private static final String TOPICS = "understudy.topics";
    /** Of the header with the generation, as other records have it. */
    private static final String GENERATION = "understudy.generation";

    private final String topic;
    private final byte[] key;
    private final String where;

    CheckpointTopic(String topic, String mirror) {
        this.topic = topic;
        this.key = mirror.getBytes(StandardCharsets.UTF_8);
        this.where = "key \"" + mirror + "\" of topic " + topic;
    }

    /** Where it is, for messages. */
    String where() {
        return where;
    }

    /**
     * A checkpoint, and the topics that it is about.
     *
     * @param generation of theirs, see {@link io.understudy.feed.kafka.TopicOrigin}
     */
    record Stored(Checkpoint checkpoint, Footprint footprint, long generation) {}

    /**
     * What was committed last; null if nothing was.
     *
     * @throws SinkException.Refused it is another mirror's, or can't be understood
     */
    @Nullable Stored read(TopicReader reader) {
        AtomicReference<@Nullable ConsumerRecord<byte[], byte[]>> last = new AtomicReference<>();
        var unused = reader.read(new TopicPartition(topic, 0), 0, last::set);
        ConsumerRecord<byte[], byte[]> found = last.get();
        if (found == null) {
            return null;
        }
        if (!Arrays.equals(found.key(), key) || found.value() == null) {
            throw new SinkException.Refused("topic " + topic + " has no checkpoint at " + where + ", but one of another"
                    + " mirror at key \""
                    + (found.key() == null ? "" : new String(found.key(), StandardCharsets.UTF_8))
                    + "\". Mirror to another topic");
        }
        try {
            return new Stored(
                    CheckpointCodec.decode(where, ByteString.copyFrom(found.value())),
                    footprint(found),
                    RecordFormat.generation(found));
        } catch (CorruptCheckpointException | MalformedRecordException e) {
            throw new SinkException.Refused(String.valueOf(e.getMessage()), e);
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

    ProducerRecord<byte[], byte[]> record(Checkpoint checkpoint, Footprint footprint, long generation) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic, 0, key, CheckpointCodec.encode(checkpoint).toByteArray());
        record.headers().add(TOPICS, footprint.toString().getBytes(StandardCharsets.US_ASCII));
        record.headers().add(GENERATION, Long.toString(generation).getBytes(StandardCharsets.US_ASCII));
        return record;
    }
}
