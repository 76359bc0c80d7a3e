package io.understudy.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.config.Binder;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.feed.kafka.TopicOrigin;
import io.understudy.feed.kafka.TopicScope;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.kafka.KafkaTopics.RecordLimit;
import io.understudy.mirror.kafka.Offsets.Footprint;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.sink.SinkException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.clients.producer.MockProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;

final class TopicWriterTest {

    /** A record expires in the buffer of the producer if those before it take longer than the delivery timeout. */
    @Test
    void aLargeTransactionWaitsForAcknowledgementsOfEachPart() {
        // Acknowledges on a flush only.
        MockProducer<byte[], byte[]> producer =
                new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer());
        TopicWriter writer = writer(producer, KafkaSettings.of("127.0.0.1:1"));
        for (int i = 0; i < 9; i++) {
            writer.send(new ProducerRecord<>("t", 0, new byte[1], new byte[1 << 20]));
        }
        assertThat(writer.offsets().footprint().topics().get("t").offsets()).containsExactly(7L);
        assertThat(producer.history()).isEmpty();
        writer.close();
    }

    /** Kafka adds no partition of a deleted topic to a transaction, and retries without end. */
    @Test
    void aFlushThatDoesNotEndIsATimeout() {
        CountDownLatch closed = new CountDownLatch(1);
        MockProducer<byte[], byte[]> producer =
                new MockProducer<>(false, null, new ByteArraySerializer(), new ByteArraySerializer()) {
                    // Its owner closes it meanwhile.
                    @SuppressWarnings("UnsynchronizedOverridesSynchronized")
                    @Override
                    public void flush() {
                        try {
                            closed.await();
                        } catch (InterruptedException e) {
                            throw new InterruptException(e);
                        }
                    }

                    @Override
                    public void close(Duration timeout) {
                        closed.countDown();
                        super.close(timeout);
                    }
                };
        KafkaSettings settings = Binder.with(KafkaSettings.of("127.0.0.1:1"), "timeout", Duration.ofMillis(1));
        TopicWriter writer = writer(producer, settings);
        writer.send(new ProducerRecord<>("t", 0, new byte[1], new byte[1]));
        assertThatThrownBy(writer::commit)
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessage("writing to topic t failed: no acknowledgement within 2 ms");
        assertThat(producer.commitCount()).isZero();
        writer.close();
        assertThat(producer.closed()).isTrue();
    }

    private static TopicWriter writer(MockProducer<byte[], byte[]> producer, KafkaSettings settings) {
        KafkaSinkOptions options = KafkaSinkOptions.of(settings, "t");
        MirrorScope scope = MirrorScope.all();
        TopicReader reader = new TopicReader(new KafkaClients(settings, "test"));
        producer.initTransactions();
        return new TopicWriter(
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
    }
}
