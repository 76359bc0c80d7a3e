package io.understudy.mirror;

import static io.understudy.mirror.fixture.Mirrors.awaitCaughtUp;
import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.feed.kafka.ValueFormat;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.fixture.SourceAndTarget;
import io.understudy.mirror.fixture.TestClient;
import io.understudy.mirror.kafka.KafkaSinkOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Topics with Debezium's envelope, from a snapshot and from commits, are read as any others. */
final class EnvelopeRelayIT {

    private static final String TOPIC = "enveloped";

    @RegisterExtension
    static final SourceAndTarget CLUSTERS = SourceAndTarget.ofOneVoterEach();

    @RegisterExtension
    static final KafkaExtension KAFKA = KafkaExtension.broker();

    @Test
    void aTargetOfEnvelopesEqualsTheSource() throws Exception {
        TestClient source = CLUSTERS.sourceClient();
        source.put("/a", "1");
        source.put("/b", "");
        KafkaSinkOptions options =
                KafkaSinkOptions.of(KAFKA.bootstrapServers(), TOPIC).with(ValueFormat.DEBEZIUM);
        try (MirrorProcess into = Mirrors.kafka(Mirrors.settings(CLUSTERS.source()), options)) {
            awaitCaughtUp(into, source);
            try (MirrorProcess from =
                    Mirrors.fromKafka(KAFKA.bootstrapServers(), TOPIC, Mirrors.settings(CLUSTERS.target()))) {
                awaitCaughtUp(from, source);
                source.put("/c", "\u00e4");
                source.delete("/a");
                awaitCaughtUp(into, source);
                awaitCaughtUp(from, source);
                assertThat(CLUSTERS.targetClient().contents()).isEqualTo(source.contents());
            }
        }
    }
}
