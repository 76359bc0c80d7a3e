package io.understudy.feed.kafka;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedSource;
import io.understudy.kafka.KafkaSettings;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Feeds from the topics that a mirror writes. */
public final class KafkaFeedSource implements FeedSource {

    private final String name;
    private final KafkaSettings kafka;
    private final KafkaFeedOptions options;
    private final MeterRegistry meters;

    /**
     * Connects when a feed is polled.
     *
     * @param name of the source, in metrics and logs
     */
    public KafkaFeedSource(String name, KafkaSettings kafka, KafkaFeedOptions options, MeterRegistry meters) {
        this.name = name;
        this.kafka = kafka;
        this.options = options;
        this.meters = meters;
    }

    /** Of every kind alike: each commit that the topic has, else a gap. */
    @Override
    public Feed open(KeyRange range, FeedKind kind, @Nullable Position resumeAt) {
        throw new UnsupportedOperationException(name + kafka + options + meters);
    }

    /** Asks Kafka, within the settings' timeout, up to which revision the change topic is complete. */
    @SuppressWarnings("DoNotCallSuggester")
    public CompletableFuture<Revision> head() {
        throw new UnsupportedOperationException(name);
    }
}
