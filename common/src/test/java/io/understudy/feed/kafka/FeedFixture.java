package io.understudy.feed.kafka;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedRunner;
import io.understudy.feed.ModelConsumer;
import io.understudy.kafka.KafkaSettings;
import io.understudy.local.junit.KafkaExtension;
import io.understudy.local.kafka.LocalKafka;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A history, topics that a stand-in for the mirror writes, and feeds that read them; closed after the test. */
final class FeedFixture implements BeforeEachCallback, AfterEachCallback {

    static final Duration PATIENCE = Duration.ofSeconds(30);

    private static final Logger LOG = LoggerFactory.getLogger(FeedFixture.class);

    private final KafkaExtension kafka;
    private final List<AutoCloseable> open = new ArrayList<>();
    private final long seed = Long.getLong("understudy.seed", System.nanoTime());
    private final RandomHistory history = sameHistory();
    private final String topic = "feed-" + UUID.randomUUID();

    FeedFixture(KafkaExtension kafka) {
        this.kafka = kafka;
    }

    @Override
    public void beforeEach(ExtensionContext test) {
        LOG.info("test={} seed={}", test.getDisplayName(), seed);
    }

    @Override
    public void afterEach(ExtensionContext test) throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
    }

    LocalKafka kafka() {
        return kafka.kafka();
    }

    long seed() {
        return seed;
    }

    String topic() {
        return topic;
    }

    RandomHistory history() {
        return history;
    }

    /** Another one that goes the same way from the beginning on. */
    RandomHistory sameHistory() {
        return new RandomHistory(seed, 50);
    }

    MirrorStub mirror(int partitions) {
        return mirror(partitions, Map.of());
    }

    MirrorStub mirror(int partitions, Map<String, String> stateConfig) {
        return closeLater(new MirrorStub(kafka().bootstrapServers(), topic, partitions, stateConfig));
    }

    FeedRunner read(KeyRange range, @Nullable Position resumeAt) {
        return read(range, resumeAt, new ModelConsumer(range));
    }

    FeedRunner read(KeyRange range, @Nullable Position resumeAt, ModelConsumer model) {
        return closeLater(new FeedRunner(source().open(range, FeedKind.HISTORY, resumeAt), model));
    }

    KafkaFeedSource source() {
        return source(new SimpleMeterRegistry());
    }

    KafkaFeedSource source(MeterRegistry meters) {
        return source(KafkaFeedOptions.of(topic), meters);
    }

    KafkaFeedSource source(KafkaFeedOptions options, MeterRegistry meters) {
        return new KafkaFeedSource("test", KafkaSettings.of(kafka().bootstrapServers()), options, meters);
    }

    <T extends AutoCloseable> T closeLater(T each) {
        open.add(each);
        return each;
    }
}
