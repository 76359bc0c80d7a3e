package io.understudy.mirror.kafka;

import static io.understudy.mirror.kafka.SinkFixture.commit;
import static io.understudy.mirror.kafka.SinkFixture.give;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.config.Binder;
import io.understudy.feed.kafka.ValueFormat;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.metrics.ProcessMetrics;
import io.understudy.mirror.fixture.Topic;
import io.understudy.mirror.sink.SinkException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests what an operator may choose in Kafka: names, transactional IDs, format and metrics. */
final class KafkaSettingsIT {

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    @RegisterExtension
    final SinkFixture fixture = new SinkFixture(KAFKA);

    @Test
    void anotherTransactionalIdFencesTheOneInTheCheckpoint() {
        KafkaNames first = fixture.options().names();
        KafkaSink before = fixture.begun(10);
        give(before, commit(11, "a"));
        before.settle();
        give(before, commit(12, "lost"));

        fixture.options(fixture.options().with(Binder.with(first, "transactionalIdPrefix", "team-")));
        KafkaSink after = fixture.sink("log", "test/2");
        assertThat(after.open()).isNotNull();
        assertThatThrownBy(before::settle).isInstanceOf(SinkException.Fenced.class);
        give(after, commit(12, "b"));
        after.settle();

        fixture.options(fixture.options().with(first));
        KafkaSink back = fixture.sink("log", "test/3");
        assertThat(back.open()).isNotNull();
        give(after, commit(13, "lost"));
        assertThatThrownBy(after::settle).isInstanceOf(SinkException.Fenced.class);
        give(back, commit(13, "c"));
        back.settle();
        assertThat(fixture.history().commits()).isEqualTo(List.of(commit(11, "a"), commit(12, "b"), commit(13, "c")));
    }

    @Test
    void topicsHaveTheNamesOfTheSettings() throws Exception {
        String topic = fixture.options().topic();
        KafkaNames names = new KafkaNames(topic, topic + "-latest", topic + "-position", "");
        fixture.options(fixture.options().with(names));
        KafkaSink sink = fixture.begun(10);
        sink.settle();
        assertThat(fixture.admin().listTopics().names().get())
                .contains(names.topic(), names.stateTopic(), names.checkpointTopic())
                .doesNotContain(topic + ".state", topic + ".checkpoint");
        assertThat(fixture.state()).containsOnlyKeys("first");

        fixture.options(fixture.options().with(new KafkaNames(topic, topic + "-other", names.checkpointTopic(), "")));
        assertThatThrownBy(() -> fixture.sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining(topic + "-other");
        give(sink, commit(11, "a"));
        sink.settle();
    }

    @Test
    void envelopesAreReadBackAndTheFormatIsKept() {
        fixture.options(fixture.options().with(ValueFormat.DEBEZIUM));
        KafkaSink sink = fixture.begun(10);
        give(sink, commit(11, "a"));
        sink.settle();
        assertThat(fixture.history().commits()).isEqualTo(List.of(commit(11, "a")));
        assertThat(Topic.records(KAFKA.bootstrapServers(), fixture.options().topic()))
                .filteredOn(record -> record.key().length > 0)
                .extracting(record -> new String(record.value(), StandardCharsets.UTF_8))
                .satisfiesExactly(snapshot -> assertThat(snapshot).contains("\"op\":\"r\""), put -> assertThat(put)
                        .contains("\"op\":\"c\"", "\"value\":\"MQ==\""));
        sink.close();

        fixture.options(fixture.options().with(ValueFormat.RAW));
        assertThatThrownBy(() -> fixture.sink().open())
                .isInstanceOf(SinkException.Refused.class)
                .hasMessageContaining("format 3");
        fixture.options(fixture.options().with(ValueFormat.DEBEZIUM));
        KafkaSink again = fixture.sink();
        assertThat(again.open()).isNotNull();
        give(again, commit(12, "b"));
        again.settle();
        assertThat(fixture.history().commits()).isEqualTo(List.of(commit(11, "a"), commit(12, "b")));
    }

    @Test
    void metricsOfTheProducerAreThereWhileItIsOpen() {
        try (ProcessMetrics process = new ProcessMetrics("mirror", "test")) {
            MeterRegistry meters = process.registry();
            KafkaSink sink = fixture.sink(meters);
            assertThat(sink.open()).isNull();
            assertThat(ofKafka(meters))
                    .isNotEmpty()
                    .allSatisfy(id -> assertThat(id.getTags())
                            .extracting(tag -> tag.getKey())
                            .isSubsetOf("process", "mirror", "client.id", "kafka.version", "topic"))
                    .extracting(Meter.Id::getName)
                    .contains("kafka.producer.record.send.total", "kafka.producer.txn.commit.time.ns.total");
            sink.close();
            assertThat(ofKafka(meters)).isEmpty();
        }
    }

    private static List<Meter.Id> ofKafka(MeterRegistry meters) {
        return meters.getMeters().stream()
                .map(Meter::getId)
                .filter(id -> id.getName().startsWith("kafka."))
                .toList();
    }
}
