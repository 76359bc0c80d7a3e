package io.understudy.bench;

import java.time.Duration;

/**
 * How often and how long everything is measured.
 *
 * @param runs how often each path is measured
 * @param duration about how long each run lasts
 * @param warmUp how long the servers are loaded at a time without counting
 * @param idle how long the idle servers are watched before the runs of each work
 * @param roundTrip between voters on one side, and gateway, learner and clients on the other; zero for none
 * @param authenticated whether the cluster has authentication
 */
public record Schedule(
        int runs, Duration duration, Duration warmUp, Duration idle, Duration roundTrip, boolean authenticated) {

    /**
     * Checks the values.
     *
     * @throws IllegalArgumentException one is invalid; the message names it
     */
    public Schedule {
        require(runs > 0, "the number of runs must be at least 1, not " + runs);
        require(isPositive(duration), "the duration must be positive, not " + duration.toMillis() + " ms");
        require(isPositive(warmUp), "the warm-up must be positive, not " + warmUp.toMillis() + " ms");
        require(isPositive(idle), "the idle time must be positive, not " + idle.toMillis() + " ms");
        require(!roundTrip.isNegative(), "the round-trip time must not be negative, is " + roundTrip);
    }

    private static boolean isPositive(Duration duration) {
        return !duration.isNegative() && !duration.isZero();
    }

    /** @throws IllegalArgumentException the condition does not hold */
    static void require(boolean condition, String message) {
        if (!condition) {
            throw new IllegalArgumentException(message);
        }
    }
}
