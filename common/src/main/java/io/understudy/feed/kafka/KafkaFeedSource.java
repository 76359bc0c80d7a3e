package io.understudy.feed.kafka;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedSource;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Feeds from the topics that a mirror writes. Thread-safe. */
public final class KafkaFeedSource implements FeedSource {

    private final KafkaClients clients;
    private final KafkaFeedOptions options;
    private final KafkaFeedMetrics metrics;
    private final TopicHead head;

    /**
     * Connects when a feed is polled.
     *
     * @param name of the source, in metrics, logs, and as Kafka's client id
     * @throws IllegalArgumentException the settings name a file that can't be used
     */
    public KafkaFeedSource(String name, KafkaSettings kafka, KafkaFeedOptions options, MeterRegistry meters) {
        this.clients = new KafkaClients(kafka, "understudy-" + name);
        this.options = options;
        this.metrics = new KafkaFeedMetrics(name, meters);
        this.head = new TopicHead(clients, options.topic());
    }

    /** Of every kind alike: each commit that the topic has, else a gap. */
    @Override
    public Feed open(KeyRange range, FeedKind kind, @Nullable Position resumeAt) {
        return new KafkaFeed(clients, options, range, resumeAt, metrics);
    }

    /**
     * Asks Kafka, within the settings' timeout, up to which revision the change topic is complete. Who asks while another
     * question is under way shares its answer.
     */
    public CompletableFuture<Revision> head() {
        return head.ask();
    }
}
