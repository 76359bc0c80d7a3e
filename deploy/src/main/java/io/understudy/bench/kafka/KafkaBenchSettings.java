package io.understudy.bench.kafka;

import java.time.Duration;
import java.util.List;

/**
 * What the user asked for.
 *
 * @param runs how often each is measured
 * @param changes of the history of large commits
 * @param commits of the history of single changes
 * @param duration of each run with load
 * @param warmUp of the load before it that doesn't count
 * @param putsPerSecond where they have a steady rate
 */
public record KafkaBenchSettings(
        List<KafkaWork> works,
        int runs,
        int changes,
        int commits,
        Duration duration,
        Duration warmUp,
        int putsPerSecond) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException one makes no sense; the message says which
     */
    public KafkaBenchSettings {
        works = works.stream().distinct().sorted().toList();
        require(!works.isEmpty(), "no work");
        require(runs > 0, "at least one run is needed, asked for " + runs);
        require(changes > 0 && commits > 0, "at least one change is needed");
        require(putsPerSecond > 0, "at least one put per second is needed, asked for " + putsPerSecond);
        require(duration.toMillis() > 0, "a run must last, asked for " + duration);
        require(!warmUp.isNegative(), "a warm-up can't take less than no time, asked for " + warmUp);
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
