package io.understudy.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.consumer.format.StrayRecords;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicScope;
import io.understudy.kafka.KafkaClients;
import io.understudy.mirror.scope.MirrorScope;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

final class TopicWriterTest {

    /** A record expires in the buffer of the producer if those before it take longer than the delivery timeout. */
    @Test
    void aLargeTransactionWaitsForAcknowledgementsOfEachPart() {
        KafkaSinkOptions options = KafkaSinkOptions.of("127.0.0.1:1", "t");
        MirrorScope scope = MirrorScope.all();
        KafkaClients clients = new KafkaClients(options.kafka(), "test");
        TopicReader reader = new TopicReader(clients);
        // Acknowledges on a flush only.
        MockProducer<byte[], byte[]> producer =
                new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer());
        producer.initTransactions();
        TopicWriter writer = new TopicWriter(
                producer,
                options,
                new RecordLimit(KafkaClients.MAX_MESSAGE_BYTES, "t"),
                new TopicOrigin(1, new TopicScope(scope.include(), scope.exclude()), 1),
                new Offsets(
                        new Footprint(Map.of("t", new Footprint.Topic(Uuid.randomUuid(), List.of(-1L)))),
                        "t.state",
                        -1,
                        -1),
                new Fencing(
                        new CheckpointTopic("t.checkpoint", "log", new StrayRecords(() -> {})),
                        reader,
                        options,
                        stored -> false),
                new TransactionTimeout(Duration.ofMinutes(1)));
        for (int i = 0; i < 9; i++) {
            writer.send(new ProducerRecord<>("t", 0, new byte[1], new byte[1 << 20]));
        }
        assertThat(writer.offsets().footprint().topics().get("t").offsets()).containsExactly(7L);
        assertThat(producer.history()).isEmpty();
        writer.close();
    }
}
