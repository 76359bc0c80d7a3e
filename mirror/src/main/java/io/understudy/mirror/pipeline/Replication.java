package io.understudy.mirror.pipeline;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.mirror.metrics.MirrorMeter;
import io.understudy.vocabulary.Revision;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Measures replication latency by samples: a time and the source's revision then.
 *
 * <ul>
 * <li>{@code understudy.mirror.replication.latency}: from the sample until the target holds its revision
 * <li>{@code understudy.mirror.record.age}: from the sample until the mirror read up to its revision; from Kafka only
 * </ul>
 *
 * Both in milliseconds, as MirrorMaker's {@code replication-latency-ms} and {@code record-age-ms}. One thread.
 */
final class Replication {

    private static final int MAX_SAMPLES = 1_000;

    private record Sample(Instant asOf, Revision revision) {}

    private final Deque<Sample> unwritten = new ArrayDeque<>();
    private final DistributionSummary latency;
    private final DistributionSummary age;

    Replication(String mirror, MeterRegistry meters) {
        this.latency = summary(MirrorMeter.REPLICATION_LATENCY, mirror, meters);
        this.age = summary(MirrorMeter.RECORD_AGE, mirror, meters);
    }

    /** Adds a sample of the topic: the source had nothing beyond {@code revision} then. */
    void read(Instant asOf, Revision revision, Instant now) {
        age.record(millis(asOf, now));
        given(asOf, revision);
    }

    /** Adds a sample up to {@code revision}, beyond which the source had nothing then. */
    void given(Instant asOf, Revision revision) {
        if (unwritten.size() == MAX_SAMPLES) {
            unwritten.removeLast();
        }
        unwritten.add(new Sample(asOf, revision));
    }

    /** Records that the target holds everything up to {@code complete}. */
    void written(Revision complete, Instant now) {
        for (Sample next = unwritten.peek();
                next != null && !next.revision().isAfter(complete);
                next = unwritten.peek()) {
            latency.record(millis(next.asOf(), now));
            unwritten.remove();
        }
    }

    /** Resets for another sink. */
    void forget() {
        unwritten.clear();
    }

    /** Never negative: the times may be of two clocks. */
    private static double millis(Instant from, Instant to) {
        return Math.max(0, Duration.between(from, to).toNanos() / 1e6);
    }

    private static DistributionSummary summary(MirrorMeter meter, String mirror, MeterRegistry meters) {
        return meter.summary().tag("mirror", mirror).register(meters);
    }
}
