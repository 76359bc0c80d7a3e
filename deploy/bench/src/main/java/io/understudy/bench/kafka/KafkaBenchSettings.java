package io.understudy.bench.kafka;

import static io.understudy.bench.Schedule.require;

import java.time.Duration;
import java.util.List;

/**
 * Settings of the Kafka benchmarks.
 *
 * @param runs how often each is measured
 * @param changes of the history of large commits
 * @param commits of the history of single changes
 * @param duration of each run with load
 * @param warmUp of the load before it that doesn't count
 * @param putsPerSecond where they have a steady rate
 * @param partitions of the change topic
 */
public record KafkaBenchSettings(
        List<KafkaWork> works,
        int runs,
        int changes,
        int commits,
        Duration duration,
        Duration warmUp,
        int putsPerSecond,
        int partitions) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException a value is not allowed
     */
    public KafkaBenchSettings {
        works = works.stream().distinct().sorted().toList();
        require(!works.isEmpty(), "no benchmark selected");
        require(runs > 0, "the number of runs must be at least 1, not " + runs);
        require(changes > 0 && commits > 0, "changes and commits must be at least 1");
        require(putsPerSecond > 0, "puts per second must be at least 1, not " + putsPerSecond);
        require(partitions > 0, "partitions must be at least 1, not " + partitions);
        require(duration.toMillis() > 0, "the duration must be positive, not " + duration.toMillis() + " ms");
        require(!warmUp.isNegative(), "the warm-up must not be negative, is " + warmUp);
    }
}
