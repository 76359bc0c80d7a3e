package io.understudy.topics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.FeedKind;
import io.understudy.feed.kafka.KafkaFeedOptions;
import io.understudy.feed.kafka.KafkaFeedSource;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.vocabulary.KeyRange;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A mirror's topics in the broker of Kafka's official image. Skipped without a Docker engine, or without the image. */
@Timeout(180)
@Tag("distribution")
final class OfficialImageIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @RegisterExtension
    static final KafkaExtension kafka = KafkaExtension.broker().inContainer();

    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();

    @Test
    void whatIsWrittenIsReadOnceWholeAndInOrder() throws Exception {
        KafkaFeedSource source = new KafkaFeedSource(
                "image",
                KafkaSettings.of(kafka.bootstrapServers()),
                KafkaFeedOptions.of(WrittenTopics.CHANGES),
                meters);
        try (WrittenTopics topics = WrittenTopics.create(kafka.bootstrapServers(), 2, 1);
                Reader reader = new Reader(source.open(KeyRange.all(), FeedKind.STATE, null))) {
            await().atMost(PATIENCE).until(() -> reader.position().isPresent());
            for (int number = 0; number < 50; number++) {
                topics.writeMore();
            }

            await().atMost(PATIENCE).until(() -> reader.revision().equals(topics.revision()));
            assertThat(reader.commits()).isEqualTo(topics.commitsAfter(reader.snapshot()));
            assertThat(reader.state()).isEqualTo(topics.state());
        }
    }
}
