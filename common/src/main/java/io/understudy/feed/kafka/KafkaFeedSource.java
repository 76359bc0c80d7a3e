package io.understudy.feed.kafka;

import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.feed.Feed;
import io.understudy.feed.FeedKind;
import io.understudy.feed.FeedSource;
import io.understudy.kafka.KafkaClients;
import io.understudy.kafka.KafkaSettings;
import io.understudy.vocabulary.FeedStart;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Position;
import io.understudy.vocabulary.Revision;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** Feeds from the topics that a mirror writes. Thread-safe. */
public final class KafkaFeedSource implements FeedSource {

    private final KafkaClients clients;
    private final KafkaFeedOptions options;
    private final KafkaFeedMetrics metrics;
    private final TopicHead head;
    /** Used parts of a range; null for all of it. */
    private final @Nullable List<KeyRange> parts;
    /** Of the last feed; null once a snapshot has followed. */
    private final AtomicReference<@Nullable LastGap> lastGap = new AtomicReference<>();

    /**
     * Connects when a feed is polled.
     *
     * @param name of the source, in metrics, logs, and as Kafka's client id
     * @throws IllegalArgumentException the settings name a file that can't be used
     */
    public KafkaFeedSource(String name, KafkaSettings kafka, KafkaFeedOptions options, MeterRegistry meters) {
        this(name, kafka, options, null, meters);
    }

    /**
     * The same for a consumer that uses parts of its ranges only.
     *
     * @param parts that the topics must contain
     */
    public KafkaFeedSource(
            String name,
            KafkaSettings kafka,
            KafkaFeedOptions options,
            @Nullable List<KeyRange> parts,
            MeterRegistry meters) {
        this.clients = new KafkaClients(kafka, "understudy-" + name);
        this.options = options;
        this.metrics = new KafkaFeedMetrics(name, meters);
        this.head = new TopicHead(kafka, () -> new Connection(clients, () -> {}, null), options.topic());
        this.parts = parts == null ? null : List.copyOf(parts);
    }

    /** All kinds deliver each commit of the topic, or a gap. Rejects ranges outside the mirror's scope. */
    @Override
    public Feed open(KeyRange range, FeedKind kind, @Nullable FeedStart start) {
        Position resumeAt = start instanceof Position position ? position : null;
        List<KeyRange> used = parts == null
                ? List.of(range)
                : parts.stream()
                        .filter(range::intersects)
                        .map(range::intersection)
                        .toList();
        return new KafkaFeed(clients, options, range, new OriginCheck(used), resumeAt, lastGap, metrics);
    }

    /**
     * Reads from Kafka the revision up to which the change topic is complete. Bounded by the settings' timeout. Callers
     * during a read share its result.
     */
    public CompletableFuture<Revision> head() {
        return head.request();
    }
}
