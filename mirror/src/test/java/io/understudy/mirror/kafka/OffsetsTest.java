package io.understudy.mirror.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.mirror.kafka.Offsets.Footprint;
import io.understudy.mirror.sink.SinkException;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.Test;

final class OffsetsTest {

    private final Offsets offsets = new Offsets(
            new Footprint(Map.of("t", new Footprint.Topic(Uuid.ONE_UUID, List.of(7L, 7L)))), "t.state", -1, -1);

    @Test
    void aDecreasedOffsetIndicatesAnotherTopic() {
        offsets.acknowledged(at(1, 8));
        assertThat(offsets.fault()).isNull();
        offsets.acknowledged(at(1, 3));
        assertThat(offsets.fault())
                .isInstanceOf(SinkException.Unavailable.class)
                .hasMessageContaining("partition t-1 returned offset 3 after 8");
    }

    @Test
    void anOffsetForgottenByTheBrokerIsIgnored() {
        offsets.acknowledged(at(0, -1));
        assertThat(offsets.fault()).isNull();
        assertThat(offsets.footprint().topics().get("t").offsets()).containsExactly(7L, 7L);
    }

    /** Its own records, and the end of each transaction, are all the offsets that there are. */
    @Test
    void recordsOfAnotherWriterInTheStateTopicAreDetected() {
        Offsets written = state(20, -1);
        written.acknowledged(inState(20));
        written.acknowledged(inState(21));
        written.committed();
        // Of a transaction without records of the state.
        written.committed();
        written.acknowledged(inState(23));
        assertThat(written.uncheckedFrom()).isEqualTo(-1);
        written.committed();
        written.acknowledged(inState(26));
        assertThat(written.uncheckedFrom()).isEqualTo(24);
        written.acknowledged(inState(30));
        assertThat(written.uncheckedFrom()).isEqualTo(24);
        // An open transaction hides the rest.
        written.checked(26);
        assertThat(written.uncheckedFrom()).isEqualTo(26);
        written.committed();
        written.checked(32);
        assertThat(written.uncheckedFrom()).isEqualTo(-1);
        written.acknowledged(inState(32));
        assertThat(written.uncheckedFrom()).isEqualTo(-1);
        // Sent twice, the broker no longer has the offset.
        written.acknowledged(inState(-1));
        assertThat(written.uncheckedFrom()).isEqualTo(32);
    }

    @Test
    void recordsUncheckedByAnEarlierWriterRemainUnchecked() {
        assertThat(state(20, 7).uncheckedFrom()).isEqualTo(7);
        Offsets unknown = state(-1, -1);
        unknown.acknowledged(inState(5));
        assertThat(unknown.uncheckedFrom()).isEqualTo(-1);
    }

    private static Offsets state(long end, long uncheckedFrom) {
        return new Offsets(
                new Footprint(Map.of("t.state", new Footprint.Topic(Uuid.ONE_UUID, List.of(3L)))),
                "t.state",
                end,
                uncheckedFrom);
    }

    private static RecordMetadata inState(long offset) {
        return new RecordMetadata(new TopicPartition("t.state", 0), offset, 0, -1, 0, 0);
    }

    private static RecordMetadata at(int partition, long offset) {
        return new RecordMetadata(new TopicPartition("t", partition), offset, 0, -1, 0, 0);
    }
}
