package io.understudy.bench.cluster;

import static io.understudy.bench.Schedule.require;

import java.time.Duration;
import java.util.List;

/**
 * Settings of the cluster benchmarks.
 *
 * @param runs how often each is measured
 * @param putsPerSecond of the client that writes meanwhile
 * @param megabytes that the cluster holds when a learner joins
 * @param duration of the undisturbed load beside which a join is looked at
 */
public record ClusterBenchSettings(
        List<ClusterWork> works, int runs, int putsPerSecond, int megabytes, Duration duration) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException a value is not allowed
     */
    public ClusterBenchSettings {
        works = works.stream().distinct().sorted().toList();
        require(!works.isEmpty(), "no benchmark selected");
        require(runs > 0, "the number of runs must be at least 1, not " + runs);
        require(putsPerSecond > 0, "puts per second must be at least 1, not " + putsPerSecond);
        require(megabytes > 0 && megabytes <= 1_500, "the data size must be 1 to 1500 MB, not " + megabytes);
        require(duration.toMillis() >= 1_000, "the duration must be at least 1s, not " + duration.toMillis() + " ms");
    }
}
