package io.understudy.feed.kafka;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.understudy.feed.FeedMetrics;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What only feeds of Kafka count, tagged with their source's {@code feed} name: {@code understudy.feed.records}, {@code
 * .repeats}, {@code .outages}, and the gauge {@code .record.age} in milliseconds. Thread-safe.
 */
final class KafkaFeedMetrics {

    private final FeedMetrics feed;
    private final Counter records;
    private final Counter repeats;
    private final Counter outages;
    private final AtomicLong ageMillis = new AtomicLong();

    KafkaFeedMetrics(String name, MeterRegistry registry) {
        feed = new FeedMetrics(name, registry);
        Tags tags = Tags.of("feed", name);
        records = registry.counter("understudy.feed.records", tags);
        repeats = registry.counter("understudy.feed.repeats", tags);
        outages = registry.counter("understudy.feed.outages", tags);
        Gauge.builder("understudy.feed.record.age", ageMillis, AtomicLong::get)
                .baseUnit("milliseconds")
                .tags(tags)
                .register(registry);
    }

    /** What every feed counts. */
    FeedMetrics feed() {
        return feed;
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
