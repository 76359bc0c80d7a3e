package io.understudy.mirror.kafka;

import com.google.protobuf.ByteString;
import io.understudy.mirror.checkpoint.Checkpoint;
import io.understudy.mirror.checkpoint.CheckpointCodec;
import io.understudy.mirror.checkpoint.CorruptCheckpointException;
import io.understudy.mirror.sink.SinkException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;

/** The compacted topic that holds a mirror's checkpoint as the last record of its key, the mirror's name. */
final class CheckpointTopic {

    private final KafkaClients clients;
    private final String topic;
    private final byte[] key;
    private final String where;

    CheckpointTopic(KafkaClients clients, String topic, String mirror) {
        this.clients = clients;
        this.topic = topic;
        this.key = mirror.getBytes(StandardCharsets.UTF_8);
        this.where = "key \"" + mirror + "\" of topic " + topic;
    }

    /** Where it is, for messages. */
    String where() {
        return where;
    }

    String name() {
        return topic;
    }

    /** The checkpoint stored last; null if there is none. */
    @Nullable Checkpoint read() {
        AtomicReference<byte @Nullable []> last = new AtomicReference<>();
        clients.readAll(topic, record -> {
            if (Arrays.equals(record.key(), key)) {
                last.set(record.value());
            }
        });
        byte[] found = last.get();
        if (found == null) {
            return null;
        }
        try {
            return CheckpointCodec.decode(where, ByteString.copyFrom(found));
        } catch (CorruptCheckpointException e) {
            throw new SinkException.Refused(String.valueOf(e.getMessage()), e);
        }
    }

    ProducerRecord<byte[], byte[]> record(Checkpoint checkpoint) {
        return new ProducerRecord<>(
                topic, 0, key, CheckpointCodec.encode(checkpoint).toByteArray());
    }
}
