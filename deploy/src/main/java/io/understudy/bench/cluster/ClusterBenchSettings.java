package io.understudy.bench.cluster;

import java.time.Duration;
import java.util.List;

/**
 * What the user asked for.
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
     * @throws IllegalArgumentException one makes no sense; the message says which
     */
    public ClusterBenchSettings {
        works = works.stream().distinct().sorted().toList();
        require(!works.isEmpty(), "no work");
        require(runs > 0, "at least one run is needed, asked for " + runs);
        require(putsPerSecond > 0, "at least one put per second is needed, asked for " + putsPerSecond);
        require(megabytes > 0 && megabytes <= 1_500, "the data is 1 to 1500 MB, asked for " + megabytes);
        require(duration.toMillis() >= 1_000, "the undisturbed load lasts a second at least, asked for " + duration);
    }

    private static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
