package io.understudy.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.mirror.sink.SinkException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

final class OffsetsTest {

    private final Offsets offsets =
            new Offsets(new Footprint(Map.of("t", new Footprint.Topic(Uuid.ONE_UUID, List.of(7L, 7L)))));

    @Test
    void anOffsetThatFallsIsOfAnotherTopic() {
        offsets.acknowledged(at(1, 8));
        assertThat(offsets.fault()).isNull();
        offsets.acknowledged(at(1, 3));
        assertThat(offsets.fault())
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessageContaining("partition t-1 returned offset 3 after 8");
    }

    @Test
    void anOffsetThatTheBrokerNoLongerKnowsIsNone() {
        offsets.acknowledged(at(0, -1));
        assertThat(offsets.fault()).isNull();
        assertThat(offsets.footprint().topics().get("t").offsets()).containsExactly(7L, 7L);
    }

    private static RecordMetadata at(int partition, long offset) {
        return new RecordMetadata(new TopicPartition("t", partition), offset, 0, -1, 0, 0);
    }
}
