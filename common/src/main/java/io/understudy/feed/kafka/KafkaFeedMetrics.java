package io.understudy.feed.kafka;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.kafka.KafkaClientMetrics;
import io.understudy.consumer.format.StrayRecords;
import io.understudy.feed.FeedMetrics;
import io.understudy.metrics.CommonMeter;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.Consumer;

/** Metrics of Kafka feeds only, tagged with their source's {@code feed} name. Thread-safe. */
final class KafkaFeedMetrics {

    private final MeterRegistry registry;
    private final Tags tags;
    private final FeedMetrics feed;
    private final Counter records;
    private final Counter repeats;
    private final Counter outages;
    private final StrayRecords strays;
    private final AtomicLong ageMillis = new AtomicLong();

    KafkaFeedMetrics(String name, MeterRegistry registry) {
        feed = new FeedMetrics(name, registry);
        this.registry = registry;
        this.tags = Tags.of("feed", name);
        records = CommonMeter.FEED_RECORDS.counter().tags(tags).register(registry);
        repeats = CommonMeter.FEED_REPEATS.counter().tags(tags).register(registry);
        outages = CommonMeter.FEED_OUTAGES.counter().tags(tags).register(registry);
        Counter stray = CommonMeter.FEED_STRAYS.counter().tags(tags).register(registry);
        strays = new StrayRecords(stray::increment);
        CommonMeter.FEED_RECORD_AGE.gauge(ageMillis, AtomicLong::get).tags(tags).register(registry);
    }

    /** Exports a consumer's own metrics until the result is closed. */
    KafkaClientMetrics export(Consumer<?, ?> consumer) {
        KafkaClientMetrics exported = new KafkaClientMetrics(consumer, tags);
        exported.bindTo(registry);
        return exported;
    }

    /** Metrics of every feed. */
    FeedMetrics feed() {
        return feed;
    }

    /** Receives records of other writers. */
    StrayRecords strays() {
        return strays;
    }

    /** @param age of the last of them, by its writer's clock and ours */
    void read(int count, long age) {
        records.increment(count);
        ageMillis.set(Math.max(0, age));
    }

    /** @param count of records that were read before */
    void repeated(long count) {
        repeats.increment((double) count);
    }

    /** Kafka doesn't answer any more. */
    void away() {
        outages.increment();
    }
}
