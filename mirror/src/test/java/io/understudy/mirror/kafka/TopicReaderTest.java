package io.understudy.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.understudy.kafka.KafkaSettings;
import io.understudy.mirror.sink.SinkException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;

final class TopicReaderTest {

    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final int ABORTED = 10;

    private final MockConsumer<byte[], byte[]> consumer = new MockConsumer<>("none");
    /** Shorter than any poll. */
    private final TopicReader reader =
            new TopicReader(() -> consumer, new KafkaSettings("127.0.0.1:1", null, Duration.ofNanos(1)));

    private final List<Long> read = new ArrayList<>();

    /** Kafka passes them without returning any, which takes long over a slow link. */
    @Test
    void theTimeoutDoesNotApplyWhileAbortedRecordsArePassed() {
        consumer.updateBeginningOffsets(Map.of(PARTITION, 0L));
        consumer.updateEndOffsets(Map.of(PARTITION, ABORTED + 1L));
        for (long offset = 1; offset <= ABORTED; offset++) {
            long next = offset;
            consumer.schedulePollTask(() -> consumer.seek(PARTITION, next));
        }
        consumer.schedulePollTask(
                () -> consumer.addRecord(new ConsumerRecord<>("t", 0, ABORTED, new byte[1], new byte[1])));
        reader.read(PARTITION, 0, record -> read.add(record.offset()));
        assertThat(read).containsExactly((long) ABORTED);
    }

    @Test
    void aReadWithoutProgressIsUnavailable() {
        consumer.updateBeginningOffsets(Map.of(PARTITION, 0L));
        consumer.updateEndOffsets(Map.of(PARTITION, 1L));
        assertThatThrownBy(() -> reader.read(PARTITION, 0, record -> read.add(record.offset())))
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessageContaining("no record within");
    }
}
